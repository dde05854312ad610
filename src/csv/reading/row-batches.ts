import { type CsvRow, plainName } from './header.ts'
import { UnreadableFile } from './unreadable-file.ts'

export type CsvReader<Row> = {
  header(header: CsvRow, delimiter: string): Promise<void>
  /** Reads the next batch while a batch is being saved. It may hold rows back, unless this is the last batch. */
  read(batch: CsvRow[], isLast: boolean): Row[]
  save(batch: Row[]): Promise<void>
}

/** The rows that are saved together: PostgreSQL gets no faster with more. Two batches are in memory, each in several forms. */
const BATCH_SIZE = { rows: 1_000, bytes: 256 * 1024 }

export function rowBatches<Row>(reader: CsvReader<Row>, delimiter: string) {
  let header: CsvRow | undefined
  let names: string[] = []
  let isHeaderTaken = false
  let rows: CsvRow[] = []
  let file = 0
  let bytesOfBatch = 0
  let saving = Promise.resolve()

  return {
    add(record: CsvRow) {
      if (header === undefined) {
        header = record
        names = record.cells.map(plainName)
      } else if (isHeaderOf(names, record)) file++
      else rows.push({ ...record, file })
    },
    async afterBytes(count: number) {
      bytesOfBatch += count
      if (rows.length >= BATCH_SIZE.rows || bytesOfBatch >= BATCH_SIZE.bytes) await hand(false)
    },
    async end({ isUnended }: { isUnended: boolean }) {
      const last = rows.at(-1)
      if (last !== undefined) last.isUnended = isUnended
      await hand(true)
      await saving
    },
    async idle() {
      await saving.catch(() => undefined)
    },
  }

  async function hand(isLast: boolean) {
    if (!isHeaderTaken && header !== undefined) {
      isHeaderTaken = true
      await reader.header(header, delimiter)
    }
    bytesOfBatch = 0
    const batch = reader.read(rows, isLast)
    rows = []
    await saving
    if (batch.length === 0) return
    saving = reader.save(batch)
    // The promise is awaited before the next batch; until then, a failure must not be an unhandled rejection.
    saving.catch(() => undefined)
  }
}

/** Files that were joined bring a header each. @throws UnreadableFile if the next file has its columns in another order */
function isHeaderOf(names: string[], { line, cells: [first = '', ...others] }: CsvRow): boolean {
  if (others.length + 1 !== names.length || !names.includes(plainName(first))) return false
  const cells = [first, ...others].map(plainName)
  if (cells.every((cell, i) => cell === names[i])) return true
  if (cells.toSorted().join() !== names.toSorted().join()) return false
  throw new UnreadableFile(
    `Line ${line}: the header of another file, whose columns are in another order: upload the files one by one`,
  )
}
