import type { RawBuilder } from 'kysely'
import type { Database } from '../../database/database.ts'
import { isUuid } from '../../ids.ts'
import { NotFound } from '../problem.ts'

/** The row that `query` finds by the id, which may be any text. @throws NotFound with the message `missing` */
export async function rowById<T>(db: Database, id: string, missing: string, query: RawBuilder<T>) {
  const { rows } = isUuid(id) ? await query.execute(db) : { rows: [] }
  if (rows[0] === undefined) throw new NotFound(missing)
  return rows[0]
}
