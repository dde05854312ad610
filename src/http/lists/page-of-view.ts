import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { decodeCursor, pageOf } from './cursor.ts'

export type PageRange = { limit: number; cursor?: string }
type View<Row> = {
  key: keyof Row & string
  select: RawBuilder<Row>
  wanted?: RawBuilder<unknown> | undefined
}

/** A page of the rows of `select` that are `wanted`, newest first: the greatest UUIDv7 of the column `key`. */
export async function pageOfView<Row extends object>(
  db: Database,
  { limit, cursor }: PageRange,
  { key, select, wanted = sql`true` }: View<Row>,
) {
  const [last] = decodeCursor(cursor, ['uuid'])
  const before = last === undefined ? sql`true` : sql`${sql.ref(key)} < ${last}`
  const { rows } = await sql<Row>`
    ${select} where (${wanted}) and ${before}
     order by ${sql.ref(key)} desc limit ${limit + 1}`.execute(db)
  return pageOf(rows, limit, row => [String(row[key])])
}
