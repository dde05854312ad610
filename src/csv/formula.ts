/** Some spreadsheets skip leading space, or take full-width signs for the plain ones. */
const FORMULA = /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/
const DEFUSED = /^''*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/
/** Where a spreadsheet's language separates cells by semicolons, one begins after each, even in quotes within a row. */
const WITHIN = /(?<!['\s;])['\s;]+(?=[=+\-@＝＋－＠])/g
/** A negative number that a spreadsheet keeps as it is: with an apostrophe it would be a text, which no sum counts. */
const NEGATIVE = /^-(?:0|[1-9]\d{0,12})(?:\.\d{1,3})?$/

export function escapeFormula(cell: string): string {
  if (NEGATIVE.test(cell)) return cell
  const safe = cell.replace(WITHIN, start => (start.includes(';') ? `${start}'` : start))
  return FORMULA.test(safe) ? `'${safe}` : safe
}

export function unescapeFormula(cell: string): string {
  const bare = DEFUSED.test(cell) ? cell.slice(1) : cell
  // Hardly any cell has a semicolon, and the replacement looks at each blank of a cell.
  if (!bare.includes(';')) return bare
  return bare.replace(WITHIN, start =>
    start.includes(';') && start.endsWith("'") ? start.slice(0, -1) : start,
  )
}
