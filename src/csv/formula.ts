/**
 * A spreadsheet would run these as a formula: some skip leading space, and some take full-width signs for
 * the plain ones. Includes cells that already have apostrophes, so that none is lost.
 */
const FORMULA = /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/
const DEFUSED = /^''*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/

/** `unescapeFormula` restores the cell. */
export function escapeFormula(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell
}

export function unescapeFormula(cell: string): string {
  return DEFUSED.test(cell) ? cell.slice(1) : cell
}
