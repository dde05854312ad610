/** Without it, Excel reads UTF-8 as Windows-1252, and saves the garbled text. */
export const BOM = '\ufeff'

/** Cells that need quotes. Without them, some readers drop spaces at the ends. */
const QUOTED = /["\r\n,;\t]|^\s|\s$/

export function csvLine(cells: string[], delimiter = ','): string {
  return `${cells.map(csvCell).join(delimiter)}\r\n`
}

function csvCell(cell: string): string {
  return QUOTED.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/**
 * A spreadsheet would run these as a formula: some skip leading space, and some take full-width signs for the plain ones.
 * Includes cells that already have apostrophes, so that none is lost.
 */
const FORMULA = /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/
const DEFUSED = /^''*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/

/** Makes a cell harmless in a spreadsheet; `unescapeFormula` restores it. */
export function escapeFormula(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell
}

export function unescapeFormula(cell: string): string {
  return DEFUSED.test(cell) ? cell.slice(1) : cell
}
