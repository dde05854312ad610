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

const LINE_BREAK = /[\r\n]/

export function misfitOf(cells: string[], columns: string[], delimiter: string): string | null {
  const withNul = cells.findIndex(cell => cell.includes('\0'))
  if (withNul !== -1) return `${columns[withNul]} contains a NUL character`
  // A stray quote takes the rows up to the next one into its cell: nobody would miss them. The cell has the rest of its
  // own row, and the beginning of the row in which it ends.
  const withRows = cells.findIndex((cell, n) => {
    if (!LINE_BREAK.test(cell)) return false
    const [first = '', ...others] = cell.split(LINE_BREAK)
    const parts = [first, others.at(-1) ?? ''].map(line => line.split(delimiter).length)
    return parts[0] === columns.length - n && parts[1] === n + 1
  })
  return withRows === -1
    ? null
    : `column ${withRows + 1} goes on over the cells of other rows: a quote begins it, and the next one ends it. Remove the quote, or write the cell in one line`
}
