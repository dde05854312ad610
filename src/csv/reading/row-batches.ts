import { withoutEmptyEnd } from '../fields.ts'
import { type CsvRow, plainName } from './header.ts'
import { otherHeader } from './unreadable-file.ts'

export type CsvReader<Row> = {
  header(header: CsvRow, delimiter: string): Promise<void>
  /** Reads the next batch while a batch is being saved. It may hold rows back, unless this is the last batch. */
  read(batch: CsvRow[], isLast: boolean): Row[]
  save(batch: Row[]): Promise<void>
}

/** The rows that are saved together: PostgreSQL gets no faster with more. Two batches are in memory, each in several forms. */
const BATCH_SIZE = { rows: 1_000, bytes: 256 * 1024 }

/** A single cell of a row may have a column's name by chance. */
const MIN_NAMES = 2

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
        names = withoutEmptyEnd(record.cells).map(plainName)
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

/**
 * Files that were joined bring a header each: a row that begins with a column's name, and of whose cells at least half are such.
 * @throws UnreadableFile if the next file has other columns, or in another order
 */
function isHeaderOf(names: string[], { line, cells: [first = '', ...others] }: CsvRow): boolean {
  if (!names.includes(plainName(first))) return false
  const cells = withoutEmptyEnd([first, ...others]).map(plainName)
  if (cells.join() === names.join()) return true
  const filled = cells.filter(cell => cell !== '')
  const common = filled.filter(cell => names.includes(cell)).length
  if (common < MIN_NAMES || common < filled.length / 2) return false
  throw otherHeader(line)
}
