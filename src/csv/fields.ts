import { trimmed } from '../text/trimmed.ts'

export type CsvFields = Record<string, string>

/** A column without a name is ignored. */
export function fieldsOf(columns: string[], cells: string[]): CsvFields {
  const fields: CsvFields = {}
  for (let i = 0; i < columns.length; i++) {
    const name = columns[i] as string
    const cell = name && trimmed(cells[i] ?? '')
    if (cell) fields[name] = cell
  }
  return fields
}

/** Empty columns at the end are what a spreadsheet saves of columns that were once used. */
export function withoutEmptyEnd(cells: string[], columns = 0): string[] {
  let length = cells.length
  while (length > columns && isEmpty(cells[length - 1])) length--
  return length === cells.length ? cells : cells.slice(0, length)
}

export const isEmpty = (cell = '') => cell === '' || trimmed(cell) === ''
