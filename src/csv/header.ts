import { type FileKind, REASON } from './column.ts'
import { UnreadableFile } from './unreadable-file.ts'

/** Tabs come from copied tables, semicolons from Excel in countries with a decimal comma. */
const DELIMITERS = [',', ';', '\t']

/** Decided by the header, because no column name contains a delimiter. */
export function delimiterOf(text: string): string {
  const [headerLine] = text.trimStart().split(/[\r\n]/, 1) as [string]
  const counts = DELIMITERS.map(delimiter => headerLine.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] as string
}

export function columnsOf(
  header: string[],
  { type, columns: known }: FileKind,
  templateUrl: string,
): string[] {
  const columns = header.map(cell => cell.trim().toLowerCase())
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
