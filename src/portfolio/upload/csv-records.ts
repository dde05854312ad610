import { finished } from 'node:stream/promises'
import { CsvError, type Info, parse } from 'csv-parse'
import { type Counted, lineCounter } from './line-counter.ts'
import type { CsvRow } from './row-batches.ts'
import { UnreadableFile } from './unreadable-file.ts'

/** A quote that is never closed must not collect the rest of a gibibyte. */
const MAX_RECORD_CHARACTERS = 100_000
/** csv-parse counts no delimiters: a row of nothing else ends here, as does one whose characters all have four bytes. */
const MAX_RECORD_BYTES = 4 * MAX_RECORD_CHARACTERS
/** Several times what any template has. An empty cell costs one byte of the file and many of memory. */
const MAX_CELLS = 100

const ENDLESS = `the row does not end within ${MAX_RECORD_CHARACTERS} characters: a quote may be open`

/** Reads the records of a CSV file, the header among them, from chunks of it. */
export function csvRecords(delimiter: string, take: (record: CsvRow) => void) {
  const counter = lineCounter()
  let header: string[] | undefined
  let bytesOfOpenRecord = 0
  const parser = parse({
    bom: true,
    delimiter,
    // Each of them anywhere: lines that were added to a file may end otherwise than its header.
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: MAX_RECORD_CHARACTERS,
    on_record(cells: string[], counted: Info & Counted) {
      const line = counter.startOf(cells, counted)
      if (cells.length > MAX_CELLS)
        throw new UnreadableFile(`Line ${line}: the row has more than ${MAX_CELLS} cells`)
      header ??= cells
      take({ line, cells })
      // What is not handed on cannot pile up in the stream.
      return null
    },
  })
  const ended = finished(parser, { readable: false })
  // Told by `ended` too; a second rejection would be nobody's.
  ended.catch(() => undefined)

  return {
    /** @throws UnreadableFile, CsvError */
    async write(chunk: Buffer) {
      const linesBefore = linesEnded()
      await new Promise<void>((resolve, reject) =>
        parser.write(chunk, error => (error ? reject(error) : resolve())),
      )
      bytesOfOpenRecord = linesEnded() === linesBefore ? bytesOfOpenRecord + chunk.length : 0
      if (bytesOfOpenRecord > MAX_RECORD_BYTES)
        throw new UnreadableFile(`Line ${counter.openLine(parser.info)}: ${ENDLESS}`)
    },
    /** @throws UnreadableFile, CsvError */
    async end() {
      parser.end()
      await ended
    },
    /** What of this error a person can use. */
    explained(error: unknown): unknown {
      if (!(error instanceof CsvError)) return error
      return new UnreadableFile(sentence(error, counter.openLine(parser.info), header ?? []))
    },
  }

  function linesEnded(): number {
    return parser.info.records + parser.info.empty_lines
  }
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
