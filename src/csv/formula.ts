/** Some spreadsheets skip leading space, or take full-width signs for the plain ones. */
const FORMULA = /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/
const DEFUSED = /^''*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/
/**
 * Where a spreadsheet's language separates cells by semicolons, quotes within a row are none to it: a cell begins after each
 * semicolon, and a row after each line break. It drops quotes with which that cell begins.
 */
const WITHIN = /(?<!["'\s;])["'\s;]+(?=[=+\-@＝＋－＠])/g
const BEGINS_CELL = /[;\r\n]/
/** A negative number that a spreadsheet keeps as it is: with an apostrophe it would be a text, which no sum counts. */
const NEGATIVE = /^-(?:0|[1-9]\d{0,12})(?:\.\d{1,3})?$/

export function escapeFormula(cell: string): string {
  if (NEGATIVE.test(cell)) return cell
  const safe = cell.replace(WITHIN, start => (BEGINS_CELL.test(start) ? `${start}'` : start))
  return FORMULA.test(safe) ? `'${safe}` : safe
}

export function unescapeFormula(cell: string): string {
  const bare = DEFUSED.test(cell) ? cell.slice(1) : cell
  // Hardly any cell has one of these, and the replacement looks at each blank of a cell.
  if (!BEGINS_CELL.test(bare)) return bare
  return bare.replace(WITHIN, start =>
    BEGINS_CELL.test(start) && start.endsWith("'") ? start.slice(0, -1) : start,
  )
}
