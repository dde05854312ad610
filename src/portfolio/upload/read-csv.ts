import { finished } from 'node:stream/promises'
import { CsvError, type Info, parse } from 'csv-parse'
import { delimiterOf } from './header.ts'
import { UnreadableFile } from './unreadable-file.ts'

/** A quote that is never closed must not collect the rest of a gibibyte. */
const MAX_RECORD_CHARACTERS = 100_000
/** csv-parse counts no delimiters: a row of nothing else ends here, as does one whose characters all have four bytes. */
const MAX_RECORD_BYTES = 4 * MAX_RECORD_CHARACTERS
/** A row may have two bytes and become hundreds: what is read at once is little, so that a batch is not much too large. */
const BYTES_AT_ONCE = 2 ** 13
/** Several times what any template has. An empty cell costs one byte of the file and many of memory. */
const MAX_CELLS = 100
const MAX_HEADER_BYTES = 20_000

const ENDLESS = `the row does not end within ${MAX_RECORD_CHARACTERS} characters: a quote may be open`

export type CsvRow = { line: number; cells: string[] }

export type CsvReader = {
  /** Takes the header. */
  header(cells: string[], delimiter: string): Promise<void>
  /** Takes rows; the next ones are read meanwhile, but not the ones after. */
  rows(batch: CsvRow[]): Promise<void>
}

/** Rows are handed on once there are so many, or once so many bytes of the file have been read for them. */
export type BatchSize = { rows: number; bytes: number }

/**
 * Reads a CSV file, a chunk at a time.
 * @throws UnreadableFile that names line and column, once no rows are being taken
 */
export async function readCsv(
  source: AsyncIterable<Buffer>,
  batchSize: BatchSize,
  reader: CsvReader,
): Promise<void> {
  const chunks = source[Symbol.asyncIterator]()
  const first = await firstLine(chunks)
  const delimiter = delimiterOf(first.toString())
  let header: string[] | undefined
  let rows: CsvRow[] = []
  let bytesOfBatch = 0
  let bytesOfOpenRecord = 0
  let endOfLast = 0
  let blankBefore = 0
  let countedTwice = 0
  let taking = Promise.resolve()

  const parser = parse({
    bom: true,
    delimiter,
    // Each of them anywhere: lines that were added to a file may end otherwise than its header.
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: MAX_RECORD_CHARACTERS,
    on_record(cells: string[], { lines, empty_lines }: Info & { lines: number }) {
      if (cells.length > MAX_CELLS)
        throw new UnreadableFile(
          `Line ${startOf(cells, lines)}: the row has more than ${MAX_CELLS} cells`,
        )
      if (header === undefined) header = cells
      else rows.push({ line: startOf(cells, lines), cells })
      endOfLast = lines
      blankBefore = empty_lines
      // What is not handed on cannot pile up in the stream.
      return null
    },
  })
  const ended = finished(parser, { readable: false })
  // Told by `ended` too; a second rejection would be nobody's.
  ended.catch(() => undefined)
  let isHeaderTaken = false

  try {
    for await (const piece of pieces(first, chunks)) {
      const linesBefore = linesEnded()
      await new Promise<void>((resolve, reject) =>
        parser.write(piece, error => (error ? reject(error) : resolve())),
      )
      bytesOfBatch += piece.length
      bytesOfOpenRecord = linesEnded() === linesBefore ? bytesOfOpenRecord + piece.length : 0
      if (bytesOfOpenRecord > MAX_RECORD_BYTES)
        throw new UnreadableFile(`Line ${openLine()}: ${ENDLESS}`)
      if (rows.length >= batchSize.rows || bytesOfBatch >= batchSize.bytes) await hand()
    }
    parser.end()
    await ended
  } catch (error) {
    // Who hears of the failure may clear up at once: nothing may be kept behind their back.
    await taking.catch(() => undefined)
    if (!(error instanceof CsvError)) throw error
    throw new UnreadableFile(sentence(error, openLine(), header ?? []))
  }
  await hand()
  await taking

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

  function linesEnded(): number {
    return parser.info.records + parser.info.empty_lines
  }

  /** Where the record begins that has not ended. */
  function openLine(): number {
    return endOfLast - countedTwice + parser.info.empty_lines - blankBefore + 1
  }

  /** csv-parse counts where a record ends, and CRLF inside quotes twice; a person looks where it begins. */
  function startOf(cells: string[], end: number): number {
    if (end - endOfLast <= 1) return end - countedTwice
    const text = cells.join(' ')
    const start = end - countedTwice - (text.match(/[\r\n]/g)?.length ?? 0)
    countedTwice += text.match(/\r\n/g)?.length ?? 0
    return start
  }
}

async function* pieces(first: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  for (let chunk: Buffer | undefined = first; chunk; chunk = await nextOf(chunks)) {
    for (let at = 0; at < chunk.length; at += BYTES_AT_ONCE)
      yield chunk.subarray(at, at + BYTES_AT_ONCE)
  }
}

async function nextOf(chunks: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  const { done, value } = await chunks.next()
  return done ? undefined : value
}

/** At least the first line, in one piece. @throws UnreadableFile */
async function firstLine(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let bytes = Buffer.alloc(0)
  for (;;) {
    const chunk = await nextOf(chunks)
    if (chunk === undefined) break
    bytes = Buffer.concat([bytes, chunk])
    if (/[\r\n]/.test(bytes.toString('utf8', 0, MAX_HEADER_BYTES).trimStart())) break
    if (bytes.length > MAX_HEADER_BYTES)
      throw new UnreadableFile('Line 1: the header does not end: is this a CSV file?')
  }
  if (bytes.toString().trim() === '') throw new UnreadableFile('The file is empty')
  return bytes
}

/** @param line where the row begins: an open quote takes everything below it along */
function sentence({ code, message, column }: CsvError, line: number, header: string[]): string {
  const at = typeof column === 'number' ? column : 0
  const where = `Line ${line}, column ${header[at] ?? at + 1}`
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return `${where}: a quote is opened and never closed`
    case 'CSV_INVALID_CLOSING_QUOTE':
    case 'CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE':
      return `${where}: a closing quote is followed by something else; a quote inside a cell is written twice`
    case 'INVALID_OPENING_QUOTE':
      return `${where}: a quote stands inside a cell that has none around it; put quotes around the cell and write this one twice`
    case 'CSV_MAX_RECORD_SIZE':
      return `${where}: ${ENDLESS}`
    default:
      return `${where}: ${message}`
  }
}
