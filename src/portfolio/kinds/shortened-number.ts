import type { Fields } from './kind.ts'

/**
 * What spreadsheets make of a long number, and programs of a float: 9.19877E+11, in some countries 9,19877E+11. The
 * point or the sign tells: a spreadsheet always writes the sign, and `1E5` alone may well be somebody's id.
 */
const SHORTENED = /^[+-]?((\d+[.,]\d*|[.,]\d+)[eE][+-]?|\d+[eE][+-])\d+$/

/** Left behind by copying between programs: blanks, quotes and characters that do not show. */
const AROUND = /[\s\p{Cf}'"‘’]/gu

/** The columns among these whose digits are lost. */
export function shortenedNumbers(fields: Fields, columns: string[]): string[] {
  return columns
    .filter(name => isShortened(fields[name] ?? ''))
    .map(
      name =>
        `${name} is a number that a spreadsheet has shortened: make the column text there, and write all digits`,
    )
}

/** Full-width characters count as the ordinary ones, which NFKC makes of them. */
function isShortened(cell: string): boolean {
  return SHORTENED.test(cell.normalize('NFKC').replace(AROUND, ''))
}
