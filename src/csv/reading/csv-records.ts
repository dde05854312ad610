import { finished } from 'node:stream/promises'
import { CsvError, type Info, parse } from 'csv-parse'
import { isEmpty, withoutEmptyEnd } from '../fields.ts'
import type { CsvRow } from './header.ts'
import { UnreadableFile } from './unreadable-file.ts'

/** An unclosed quote must not buffer the rest of a 1 GiB file. */
const MAX_RECORD_CHARACTERS = 100_000
/** csv-parse does not count delimiters, so this limits a row of nothing else. A character has up to four bytes. */
const MAX_RECORD_BYTES = 4 * MAX_RECORD_CHARACTERS
/** No template has a tenth as many cells. An empty cell takes one byte of the file and many bytes of memory. */
const MAX_CELLS = 100
/** No spreadsheet has more columns, so that many empty ones are no accident. */
const MAX_COLUMNS = 16_384

const ENDLESS = `the row does not end within ${MAX_RECORD_CHARACTERS} characters: a closing quote may be missing`

/** @param isBeforeHeader whether the first row that is not empty only names the delimiter */
export function csvRecords(
  delimiter: string,
  { isBeforeHeader }: { isBeforeHeader: boolean },
  take: (record: CsvRow) => void,
) {
  const counter = lineCounter()
  let header: string[] | undefined
  let bytesOfOpenRecord = 0
  let isSkipped = isBeforeHeader
  const parser = openParser(delimiter, (cells, counted) => {
    const line = counter.startOf(cells, counted)
    if (cells.length > MAX_COLUMNS) throw tooManyCells(line)
    if (cells.every(isEmpty)) return
    const filled = atMostMaxCells(cells, line)
    if (isSkipped) {
      isSkipped = false
      return
    }
    header ??= cells
    take({ line, cells: filled })
  })
  const ended = finished(parser, { readable: false })
  // `end` reports this error; without a handler, a failure before that would be an unhandled rejection.
  ended.catch(() => undefined)

  return {
    async write(chunk: Buffer) {
      const linesBefore = linesEnded()
      await new Promise<void>((resolve, reject) =>
        parser.write(chunk, error => (error ? reject(error) : resolve())),
      )
      bytesOfOpenRecord = linesEnded() === linesBefore ? bytesOfOpenRecord + chunk.length : 0
      if (bytesOfOpenRecord > MAX_RECORD_BYTES)
        throw new UnreadableFile(`Line ${counter.openLine(parser.info)}: ${ENDLESS}`)
    },
    async end() {
      parser.end()
      await ended
    },
    /** The error in the user's terms, and without a cause, because the parser's message quotes the file. */
    explained(error: unknown): unknown {
      if (!(error instanceof CsvError)) return error
      return new UnreadableFile(sentence(error, counter.openLine(parser.info), header ?? []))
    },
  }

  function linesEnded(): number {
    return parser.info.records + parser.info.empty_lines
  }
}

function atMostMaxCells(cells: string[], line: number): string[] {
  const filled = cells.length > MAX_CELLS ? withoutEmptyEnd(cells, MAX_CELLS) : cells
  if (filled.length > MAX_CELLS) throw tooManyCells(line)
  return filled
}

const tooManyCells = (line: number) =>
  new UnreadableFile(`Line ${line}: the row has more than ${MAX_CELLS} cells`)

function openParser(
  delimiter: string,
  take: (cells: string[], counted: Info & LineCounts) => void,
) {
  return parse({
    bom: true,
    delimiter,
    // Each line may end in any of these ways: lines added to a file may end differently from its header.
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: MAX_RECORD_CHARACTERS,
    on_record(cells: string[], counted: Info & LineCounts) {
      take(cells, counted)
      // No record is passed on, so none can pile up in the stream.
      return null
    },
  })
}

function sentence({ code, message, column }: CsvError, line: number, header: string[]): string {
  const at = typeof column === 'number' ? column : 0
  const where = `Line ${line}, column ${header[at] ?? at + 1}`
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return `${where}: a quote is opened but never closed`
    case 'CSV_INVALID_CLOSING_QUOTE':
    case 'CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE':
      return `${where}: there is text after a closing quote; to put a quote inside a cell, write it twice`
    case 'INVALID_OPENING_QUOTE':
      return `${where}: there is a quote inside an unquoted cell; put quotes around the cell and write the inner quote twice`
    case 'CSV_MAX_RECORD_SIZE':
      return `${where}: ${ENDLESS}`
    default:
      return `${where}: ${message}`
  }
}

type LineCounts = Pick<Info, 'empty_lines'> & { lines: number }

/** Counts lines as an editor does: csv-parse gives the line where a record ends, and counts a CRLF inside quotes twice. */
function lineCounter() {
  let endOfLast = 0
  let blankBefore = 0
  let countedTwice = 0

  return {
    startOf(cells: string[], { lines, empty_lines }: LineCounts): number {
      let start = lines - countedTwice
      if (lines - endOfLast > 1) {
        const text = cells.join(' ')
        start -= text.match(/[\r\n]/g)?.length ?? 0
        countedTwice += text.match(/\r\n/g)?.length ?? 0
      }
      endOfLast = lines
      blankBefore = empty_lines
      return start
    },

    openLine({ empty_lines }: Pick<Info, 'empty_lines'>): number {
      return endOfLast - countedTwice + empty_lines - blankBefore + 1
    },
  }
}
