import { type FileKind, REASON } from './column.ts'
import { withoutEmptyEnd } from './fields.ts'
import { UnreadableFile } from './unreadable-file.ts'

/** Tabs come from copied tables, semicolons from Excel in countries with a decimal comma. */
const DELIMITERS = [',', ';', '\t']

/** By which some programs tell a spreadsheet the delimiter. */
const SEPARATOR_LINE = /^"?sep=([,;\t])"?[,;\t]*$/i
const EMPTY_LINE = /^[\s,;"]*$/

/** @returns undefined if there is no complete line that is not empty */
export function firstLineOf(text: string): string | undefined {
  const lines = text.split(/[\r\n]/)
  return lines.slice(0, -1).find(line => !EMPTY_LINE.test(line))
}

export function isSeparatorLine(line: string): boolean {
  return SEPARATOR_LINE.test(line)
}

/** Decided by the header, because no column name contains a delimiter. */
export function delimiterOf(headerLine: string): string {
  const named = SEPARATOR_LINE.exec(headerLine)?.[1]
  if (named !== undefined) return named
  const counts = DELIMITERS.map(delimiter => headerLine.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] as string
}

export function columnsOf(
  header: string[],
  { type, columns: known }: FileKind,
  templateUrl: string,
): string[] {
  const columns = withoutEmptyEnd(header).map(cell => cell.trim().toLowerCase())
  const names = [...known.map(({ name }) => name), REASON]
  const complaints = columns.flatMap((name, i) => {
    if (!names.includes(name))
      return [`column ${i + 1} (${JSON.stringify(name.slice(0, 60))}) is not a column of ${type}`]
    return columns.indexOf(name) < i ? [`column ${i + 1} repeats ${name}`] : []
  })
  const missing = known.filter(({ name, isRequired }) => isRequired && !columns.includes(name))
  complaints.push(...missing.map(({ name }) => `the column ${name} is missing`))
  if (complaints.length === 0) return columns
  throw new UnreadableFile(`Line 1: ${complaints.join('; ')}. The template is at ${templateUrl}`)
}
