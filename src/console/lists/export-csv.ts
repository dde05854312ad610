import { asCsv, BOM } from '../../csv/as-csv.ts'
import { escapeFormula } from '../../csv/formula.ts'
import type { Column, Found, Range } from './list.ts'
import { textOf } from './table.ts'

/** The number of rows in memory at a time. */
const ROWS_AT_ONCE = 500

export async function* exportCsv<Row extends object>(
  columns: Column<Row>[],
  load: (range: Range) => Promise<Found<Row>>,
): AsyncGenerator<string> {
  const names = columns.map(({ name }) => name)
  yield BOM + asCsv([names])
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const range = { limit: ROWS_AT_ONCE, ...(cursor === undefined ? {} : { cursor }) }
    const { rows, next_cursor } = await load(range)
    yield asCsv(rows.map(row => names.map(name => escapeFormula(textOf(row, name)))))
    cursor = next_cursor
  }
}
