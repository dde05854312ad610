/** Without this mark, Excel reads UTF-8 as Windows-1252, and saves the garbled text. */
export const BOM = '\ufeff'

/** Without quotes, some readers drop spaces at the ends. */
const QUOTED = /["\r\n,;\t|]|^\s|\s$/

export function asCsv(rows: string[][], delimiter = ','): string {
  return rows.map(cells => `${cells.map(quoted).join(delimiter)}\r\n`).join('')
}

const quoted = (cell: string): string =>
  QUOTED.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
