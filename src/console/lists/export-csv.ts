import { asCsv, BOM } from '../../csv/as-csv.ts'
import { escapeFormula } from '../../csv/formula.ts'
import type { FoundPage } from '../../http/lists/cursor.ts'
import type { PageRange } from '../../http/lists/page-of-view.ts'
import type { ListColumn } from './list.ts'
import { cellText } from './table.ts'

/** Rows held in memory during an export: at some kB each, a few MB, whatever the size of the list. */
const ROWS_AT_ONCE = 500

type Load<Row> = (range: PageRange) => Promise<FoundPage<Row>>

/** Loads the first rows before the answer begins: once it has begun, a filter can no longer be refused. */
export async function exportCsv<Row extends object>(
  columns: ListColumn<Row>[],
  load: Load<Row>,
): Promise<AsyncGenerator<string>> {
  return csvOf(columns, load, await load({ limit: ROWS_AT_ONCE }))
}

async function* csvOf<Row extends object>(
  columns: ListColumn<Row>[],
  load: Load<Row>,
  first: FoundPage<Row>,
): AsyncGenerator<string> {
  yield BOM + asCsv([columns.map(({ name, exported }) => exported?.name ?? name)])
  for (let part = first; ; part = await load({ limit: ROWS_AT_ONCE, cursor: part.next_cursor })) {
    yield asCsv(part.page.map(row => columns.map(column => escapeFormula(exportText(column, row)))))
    if (part.next_cursor === null) return
  }
}

const exportText = <Row extends object>({ name, exported }: ListColumn<Row>, row: Row) =>
  exported?.text(row) ?? cellText(row, name)
