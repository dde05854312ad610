import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { type PageRange, pageOfView } from '../../http/lists/page-of-view.ts'
import { countUpTo } from './count.ts'
import type { List, ListColumn } from './list.ts'

type Row = Record<string, unknown>
type ViewList = {
  path: string
  title: string
  empty: string
  view: string
  /** A column with a UUIDv7, to sort newest first. */
  key: string
  columns: ListColumn<Row>[]
}

export function viewList(
  db: Database,
  { view, key, ...list }: ViewList,
): List<Record<never, never>, Row> {
  const from = sql.table(`ops.${view}`)
  return {
    ...list,
    filters: {},
    cursor: ['uuid'],
    load: (range: PageRange) =>
      pageOfView(db, range, { key, select: sql<Row>`select * from ${from}` }),
    count: () => countUpTo(db, sql`select from ${from}`),
  }
}
