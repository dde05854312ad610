import { asCsv, BOM } from '../../csv/as-csv.ts'
import { escapeFormula } from '../../csv/formula.ts'
import type { FoundRows, ListColumn, Range } from './list.ts'
import { cellText } from './table.ts'

/** The number of rows in memory at a time. */
const ROWS_AT_ONCE = 500

export async function* exportCsv<Row extends object>(
  columns: ListColumn<Row>[],
  load: (range: Range) => Promise<FoundRows<Row>>,
): AsyncGenerator<string> {
  const names = columns.map(({ name }) => name)
  yield BOM + asCsv([names])
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const range = { limit: ROWS_AT_ONCE, ...(cursor === undefined ? {} : { cursor }) }
    const { rows, next_cursor } = await load(range)
    yield asCsv(rows.map(row => names.map(name => escapeFormula(cellText(row, name)))))
    cursor = next_cursor
  }
}
