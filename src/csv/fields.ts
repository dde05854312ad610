/** Zero-width characters and marks of direction; the joiners may belong to a name's last letter. */
const ENDS =
  /^[\s\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+|[\s\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+$/g

export type CsvFields = Record<string, string>

export function fieldsOf(columns: string[], cells: string[]): CsvFields {
  const fields: CsvFields = {}
  for (let i = 0; i < columns.length; i++) {
    const cell = trimmed(cells[i] ?? '')
    if (cell) fields[columns[i] as string] = cell
  }
  return fields
}

export function misfitOf(cells: string[], columns: string[]): string | null {
  if (cells.length !== columns.length)
    return `the row has ${cells.length} cells, but the header has ${columns.length} columns`
  const withNul = cells.findIndex(cell => cell.includes('\0'))
  return withNul === -1 ? null : `${columns[withNul]} contains a NUL character`
}

/** Most cells are ASCII, for which this takes a tenth of the time. */
function trimmed(cell: string): string {
  const text = cell.trim()
  return isAsciiAtEnds(text) ? text : text.replace(ENDS, '')
}

const isAsciiAtEnds = (text: string) =>
  !(text.charCodeAt(0) > 0x7f || text.charCodeAt(text.length - 1) > 0x7f)
