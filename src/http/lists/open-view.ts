import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { asJson } from '../as-json.ts'
import { type PageRange, pageOfView } from './page-of-view.ts'
import { rowById } from './row-by-id.ts'

/**
 * What the API lists and also returns one by one.
 * @param key the column of a UUIDv7
 * @param what is not there, in words, if no row has an id
 */
export function openView<Item extends object>(
  select: RawBuilder<object>,
  key: string,
  what: string,
) {
  const rows = select as RawBuilder<Record<string, unknown>>
  return {
    async page(db: Database, range: PageRange, wanted?: RawBuilder<unknown>) {
      const { page, next_cursor } = await pageOfView(db, range, { key, select: rows, wanted })
      return { page: page.map(asJson<Item>), next_cursor }
    },
    /** @throws NotFound */
    async one(db: Database, id: string): Promise<Item> {
      const one = sql<object>`${rows} where ${sql.ref(key)} = ${id}`
      return asJson<Item>(await rowById(db, id, `No ${what} ${id}`, one))
    },
  }
}
