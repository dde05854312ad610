export type CsvRow = { line: number; cells: string[] }

export type CsvReader = {
  /** Takes the header. */
  header(cells: string[], delimiter: string): Promise<void>
  /** Takes rows; the next ones are read meanwhile, but not the ones after. */
  rows(batch: CsvRow[]): Promise<void>
}

/** Rows are handed on once there are so many, or once so many bytes of the file have been read for them. */
export type BatchSize = { rows: number; bytes: number }

/** Collects the records of a file, the header first, and hands them on. */
export function rowBatches(batchSize: BatchSize, reader: CsvReader, delimiter: string) {
  let header: string[] | undefined
  let isHeaderTaken = false
  let rows: CsvRow[] = []
  let bytesOfBatch = 0
  let taking = Promise.resolve()

  return {
    add(record: CsvRow) {
      if (header === undefined) header = record.cells
      else rows.push(record)
    },
    /** Hands on what there is if it is enough. */
    async afterBytes(count: number) {
      bytesOfBatch += count
      if (rows.length >= batchSize.rows || bytesOfBatch >= batchSize.bytes) await hand()
    },
    async end() {
      await hand()
      await taking
    },
    /** Waits until no rows are being taken, whatever came of it. */
    async rest() {
      await taking.catch(() => undefined)
    },
  }

  async function hand() {
    if (!isHeaderTaken && header !== undefined) {
      isHeaderTaken = true
      await reader.header(header, delimiter)
    }
    await taking
    bytesOfBatch = 0
    if (rows.length === 0) return
    taking = reader.rows(rows)
    // Awaited before the next batch; until then a failure must not end the process.
    taking.catch(() => undefined)
    rows = []
  }
}
