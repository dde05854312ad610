import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { pageOfView } from '../../http/lists/page-of-view.ts'
import { countUpTo } from './count.ts'
import type { List, ListColumn, Range } from './list.ts'

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
    async load(range: Range) {
      const select = sql<Row>`select * from ${from}`
      const { page, next_cursor } = await pageOfView(db, range, { key, select })
      return { rows: page, next_cursor }
    },
    count: () => countUpTo(db, sql`select from ${from}`),
  }
}
