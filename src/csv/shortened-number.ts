import type { CsvFields } from './fields.ts'

/** A spreadsheet always writes a sign, so a plain `1E5` may well be an id. */
const SHORTENED = /^[+-]?((\d+[.,]\d*|[.,]\d+)[eE][+-]?|\d+[eE][+-])\d+$/

/** What copying between programs leaves behind: spaces, quotes and invisible characters. */
const AROUND = /[\s\p{Cf}'"‘’]/gu

export function shortenedNumbers(fields: CsvFields, columns: string[]): string[] {
  return columns
    .filter(name => isShortened(fields[name] ?? ''))
    .map(
      name =>
        `${name} is in scientific notation, which loses digits: format the column as text in the spreadsheet, and enter the whole number`,
    )
}

/** NFKC turns full-width characters into ordinary ones. */
function isShortened(cell: string): boolean {
  return SHORTENED.test(cell.normalize('NFKC').replace(AROUND, ''))
}
