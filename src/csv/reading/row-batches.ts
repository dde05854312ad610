export type CsvRow = { line: number; cells: string[] }

export type CsvReader = {
  header(header: CsvRow, delimiter: string): Promise<void>
  rows(batch: CsvRow[]): Promise<void>
}

/** The rows that are saved together: PostgreSQL gets no faster with more. Two batches are in memory, each in several forms. */
const BATCH_SIZE = { rows: 1_000, bytes: 256 * 1024 }

export function rowBatches(reader: CsvReader, delimiter: string) {
  let header: CsvRow | undefined
  let isHeaderTaken = false
  let rows: CsvRow[] = []
  let bytesOfBatch = 0
  let taking = Promise.resolve()

  return {
    add(record: CsvRow) {
      if (header === undefined) header = record
      else rows.push(record)
    },
    async afterBytes(count: number) {
      bytesOfBatch += count
      if (rows.length >= BATCH_SIZE.rows || bytesOfBatch >= BATCH_SIZE.bytes) await hand()
    },
    async end() {
      await hand()
      await taking
    },
    async idle() {
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
    // The promise is awaited before the next batch; until then, a failure must not be an unhandled rejection.
    taking.catch(() => undefined)
    rows = []
  }
}
