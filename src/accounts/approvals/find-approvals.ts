import type { Static } from '@sinclair/typebox'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { asJson } from '../../http/as-json.ts'
import { idBefore, pageOf } from '../../http/cursor.ts'
import { NotFound } from '../../http/problem.ts'
import { isUuid } from '../../ids.ts'
import type { Approval } from './approval-record.ts'

type Item = Static<typeof Approval>
type Query = { state?: string | null; act?: string | null; limit: number; cursor?: string }

const items = sql`
  select v.approval_id, v.act, v.subject, trim_scale(v.amount)::text as amount, v.currency, v.state, v.proposed_by, v.proposed_at,
         v.note, v.decided_by, v.decided_at, v.decision_note, v.expires_at, a.request - 'password_hash' as request, a.facts
    from ops.approval v join loanops.approval a on a.id = v.approval_id`

/** Approvals, newest first. */
export async function findApprovals(
  db: Database,
  { state = null, act = null, limit, cursor }: Query,
) {
  const before = idBefore(cursor)
  const { rows } = await sql<Item>`${items}
     where (${state}::text is null or v.state = ${state} and a.state in (${state}, 'proposed')) and (${act}::text is null or v.act = ${act})
       and (${before}::uuid is null or v.approval_id < ${before})
     order by v.approval_id desc limit ${limit + 1}`.execute(db)
  const { page, next_cursor } = pageOf(rows, limit, row => [row.approval_id])
  return { approvals: page.map(asJson<Item>), next_cursor }
}

/** @throws NotFound */
export async function findApproval(db: Database, id: string): Promise<Item> {
  return asJson<Item>(await rowOf(db, id, sql`${items} where v.approval_id = ${id}`))
}

/** @throws NotFound */
export async function rowOf<T>(db: Database, id: string, query: RawBuilder<T>): Promise<T> {
  const { rows } = isUuid(id) ? await query.execute(db) : { rows: [] }
  if (rows[0] === undefined) throw new NotFound(`No approval ${id}`)
  return rows[0]
}

/** Every page of the console asks this: it reads only what is not decided yet. */
export async function countOpenApprovals(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from ops.approval v join loanops.approval a on a.id = v.approval_id
     where a.state = 'proposed' and v.state = 'proposed'`.execute(db)
  return rows[0]?.count ?? 0
}
