import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { asJson } from '../http/as-json.ts'
import { decodeCursor, pageOf } from '../http/cursor.ts'
import { type OperationRow, wholeRecord } from './record.ts'

const recordColumns = sql`o.id, o.operation_type as "operationType", o.status, o.response,
  o.error_message as "errorMessage", o.processed_at as "processedAt"`

export async function findOperation(
  db: Database,
  { operationType, id }: { operationType: string; id: string },
): Promise<OperationRow | undefined> {
  const { rows } = await sql<OperationRow>`
    select ${recordColumns} from loanops.operation o
     where o.id = ${id} and o.operation_type = ${operationType} and o.origin = 'api'`.execute(db)
  return rows[0]
}

export type ListQuery = {
  external_id?: string
  status?: string
  operation_type?: string
  limit: number
  cursor?: string
}

/** Newest first. */
export async function listOperations(db: Database, query: ListQuery) {
  const where: RawBuilder<unknown>[] = [sql`o.origin = 'api'`]
  if (query.external_id !== undefined) where.push(sql`o.external_id = ${query.external_id}`)
  if (query.operation_type !== undefined)
    where.push(sql`o.operation_type = ${query.operation_type}`)
  // A literal, so that the partial index on this status is used.
  if (query.status !== undefined) where.push(sql`o.status = ${sql.lit(query.status)}`)
  if (query.cursor !== undefined)
    where.push(sql`o.seq < ${decodeCursor(query.cursor, ['bigint'])[0]}`)
  type Row = OperationRow & { seq: string } & { [name in keyof ListColumns]: unknown }
  const { rows } = await sql<Row>`
    select o.seq, ${recordColumns}, v.external_id, v.accepted_at, v.attempts, v.waiting_for, v.next_try_at, v.last_error
      from (select * from loanops.operation o where ${sql.join(where, sql` and `)}
             order by o.seq desc limit ${query.limit + 1}) o
      join ops.operation v on v.seq = o.seq
     order by o.seq desc`.execute(db)
  const { page, next_cursor } = pageOf(rows, query.limit, row => [row.seq])
  return {
    operations: page.map(row => ({
      ...wholeRecord(row),
      ...asJson<ListColumns>({
        external_id: row.external_id,
        accepted_at: row.accepted_at,
        attempts: row.attempts,
        waiting_for: row.waiting_for,
        next_try_at: row.next_try_at,
        last_error: row.last_error,
      }),
    })),
    next_cursor,
  }
}

type ListColumns = {
  external_id: string
  accepted_at: string
  attempts: number
  waiting_for: string | null
  next_try_at: string | null
  last_error: string | null
}
