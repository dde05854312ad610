/** What must stand in quotes. Blanks at an end would be lost to some readers. */
const QUOTED = /["\r\n,;\t]|^\s|\s$/

export function csvLine(cells: string[], delimiter = ','): string {
  return `${cells.map(csvCell).join(delimiter)}\r\n`
}

function csvCell(cell: string): string {
  return QUOTED.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** A spreadsheet would run these as a formula. The apostrophes before one are counted, so that none is lost. */
const FORMULA = /^'*[=+\-@\t\r]/
const DEFUSED = /^''*[=+\-@\t\r]/

/** Makes a cell harmless where people open the file in a spreadsheet; `unescapeFormula` gives back the cell. */
export function escapeFormula(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell
}

export function unescapeFormula(cell: string): string {
  return DEFUSED.test(cell) ? cell.slice(1) : cell
}
