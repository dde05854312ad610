import { isAlmost } from '../../config/almost.ts'
import { trimmed } from '../../text/trimmed.ts'
import { type FileKind, REASON } from '../column.ts'
import { withoutEmptyEnd } from '../fields.ts'
import { UnreadableFile } from './unreadable-file.ts'

export type CsvRow = {
  line: number
  cells: string[]
  /** Which one it came from of files that were joined with their headers. */
  file?: number
  /** Whether the file ends without ending the line of its last row, this one. */
  isUnended?: boolean
}

/** Tabs come from copied tables, semicolons from Excel in countries with a decimal comma, bars from old systems. */
const DELIMITERS = [',', ';', '\t', '|']

const MAX_SHOWN_CHARACTERS = 60
const ONE_CELL =
  'the whole row is one cell: separate its columns with commas, and put no quotes around a whole row'

/** The line by which some programs tell a spreadsheet the delimiter. */
const SEPARATOR_LINE = /^"?sep=([,;\t|])"?[,;\t|]*$/i
const EMPTY_LINE = /^[\s,;|"]*$/
const QUOTED = /"[^"]*"/g

/** @returns undefined if there is no complete line that is not empty */
export function firstLineOf(text: string): string | undefined {
  // The name of a column may have line breaks, in quotes.
  const lines = text.replace(QUOTED, cell => cell.replace(/[\r\n]/g, ' ')).split(/[\r\n]/)
  return lines.slice(0, -1).find(line => !EMPTY_LINE.test(line))
}

export function isSeparatorLine(line: string): boolean {
  return SEPARATOR_LINE.test(line)
}

/** The delimiter of the header, because no column name contains a delimiter. */
export function delimiterOf(headerLine: string): string {
  const named = SEPARATOR_LINE.exec(headerLine)?.[1]
  if (named !== undefined) return named
  const counts = DELIMITERS.map(delimiter => headerLine.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] as string
}

/** A column's name without the blanks, capitals and signs with which other programs and people spell it. */
export const plainName = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')

/**
 * @param templateUrl where the caller finds the template
 * @returns the names of the columns; empty for one that is ignored
 */
export function columnsOf(
  { cells: header, line }: CsvRow,
  { type, columns: known, ignored }: FileKind,
  templateUrl: string,
): string[] {
  const cells = withoutEmptyEnd(header)
  const columns = cells.map(plainName)
  const names = [...known.map(({ name }) => name), REASON]
  if (cells.length === 1 && !names.includes(columns[0] ?? ''))
    throw new UnreadableFile(
      `Line ${line}: ${whyOneCell(cells[0], names, type)}. The template is at ${templateUrl}`,
    )
  const complaints = columns.flatMap((name, i) => {
    if (ignored?.test(name)) return []
    if (!names.includes(name))
      return [`column ${i + 1} (${shown(cells[i])}) is not a column of ${type}`]
    return columns.indexOf(name) < i ? [`column ${i + 1} repeats ${name}`] : []
  })
  const missing = known.filter(({ name, isRequired }) => isRequired && !columns.includes(name))
  complaints.push(...missing.map(({ name }) => `the column ${name} is missing`))
  if (complaints.length === 0) return columns.map(name => (names.includes(name) ? name : ''))
  throw new UnreadableFile(
    `Line ${line}: ${complaints.join('; ')}. The template is at ${templateUrl}`,
  )
}

/** A row that is one cell has the names of several columns, or is a misspelled name or a title. */
function whyOneCell(cell: string | undefined, names: string[], type: string): string {
  const plain = plainName(cell ?? '')
  if (names.filter(name => plain.includes(name)).length > 1) return ONE_CELL
  const meant = names.find(name => isAlmost(plain, name))
  return meant === undefined
    ? `${shown(cell)} is not a header: remove the lines above the header`
    : `${shown(cell)} is not a column of ${type}: ${meant} may be meant`
}

const shown = (cell = '') => JSON.stringify(trimmed(cell).slice(0, MAX_SHOWN_CHARACTERS))
