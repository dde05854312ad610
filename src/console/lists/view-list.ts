import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { idBefore, pageOf } from '../../http/cursor.ts'
import { countUpTo } from './count.ts'
import type { List, ListColumn } from './list.ts'
import { cellText } from './table.ts'

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
    async load({ limit, cursor }: { limit: number; cursor?: string }) {
      const before = idBefore(cursor)
      const { rows } = await sql<Row>`
        select * from ${from}
         where ${before === null ? sql`true` : sql`${sql.ref(key)} < ${before}`}
         order by ${sql.ref(key)} desc limit ${limit + 1}`.execute(db)
      const { page, next_cursor } = pageOf(rows, limit, row => [cellText(row, key)])
      return { rows: page, next_cursor }
    },
    count: () => countUpTo(db, sql`select from ${from}`),
  }
}
