/** Some spreadsheets skip leading space, or take full-width signs for the plain ones. */
const FORMULA = /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/
const DEFUSED = /^''*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/

export function escapeFormula(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell
}

export function unescapeFormula(cell: string): string {
  return DEFUSED.test(cell) ? cell.slice(1) : cell
}
