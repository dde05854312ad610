import { type Column, REASON } from '../kinds/column.ts'
import { UnreadableFile } from './unreadable-file.ts'

/** Tabs come from copied tables, semicolons from Excel where the comma is in the numbers. */
const DELIMITERS = [',', ';', '\t']

/**
 * No column's name has a delimiter in it: the one that the header has is the file's.
 * @param text its first line is the header; cells below may have any of them inside
 */
export function delimiterOf(text: string): string {
  const [headerLine] = text.trimStart().split(/[\r\n]/, 1) as [string]
  const counts = DELIMITERS.map(delimiter => headerLine.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] as string
}

/**
 * The header's columns, in the file's order.
 * @throws UnreadableFile that names each column that is missing, unknown or there twice
 */
export function columnsOf(header: string[], type: string, known: Column[]): string[] {
  const columns = header.map(cell => cell.trim().toLowerCase())
  const names = [...known.map(({ name }) => name), REASON]
  const complaints = columns.flatMap((name, i) => {
    if (!names.includes(name))
      return [`column ${i + 1} (${JSON.stringify(name.slice(0, 60))}) is not a column of ${type}`]
    return columns.indexOf(name) < i ? [`column ${i + 1} is ${name} again`] : []
  })
  const missing = known.filter(({ name, isRequired }) => isRequired && !columns.includes(name))
  complaints.push(...missing.map(({ name }) => `the column ${name} is missing`))
  if (complaints.length === 0) return columns
  throw new UnreadableFile(
    `Line 1: ${complaints.join('; ')}. The template is at /api/migration/templates/${type}.csv`,
  )
}
