import type { Static } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { asJson } from '../../http/as-json.ts'
import { idBefore, pageOf } from '../../http/cursor.ts'
import { NotFound } from '../../http/problem.ts'
import { isUuid } from '../../ids.ts'
import type { Approval } from './approval-record.ts'

type Item = Static<typeof Approval>

const columns = sql`v.approval_id, v.act, v.subject, trim_scale(v.amount)::text as amount, v.currency, v.state, v.proposed_by,
  v.proposed_at, v.note, v.decided_by, v.decided_at, v.decision_note, v.expires_at, a.request - 'password_hash' as request, a.facts`

/** Approvals, newest first. */
export async function findApprovals(
  db: Database,
  { state = null, act = null, limit, cursor }: ApprovalQuery,
) {
  const before = idBefore(cursor)
  const { rows } = await sql<Item>`
    select ${columns} from ops.approval v join loanops.approval a on a.id = v.approval_id
     where (${state}::text is null or v.state = ${state}) and (${act}::text is null or v.act = ${act})
       and (${before}::uuid is null or v.approval_id < ${before})
     order by v.approval_id desc limit ${limit + 1}`.execute(db)
  const { page, next_cursor } = pageOf(rows, limit, row => [row.approval_id])
  return { approvals: page.map(asJson<Item>), next_cursor }
}
type ApprovalQuery = {
  state?: string | null
  act?: string | null
  limit: number
  cursor?: string
}

/** @throws NotFound */
export async function findApproval(db: Database, id: string): Promise<Item> {
  const { rows } = isUuid(id)
    ? await sql<Item>`
        select ${columns} from ops.approval v join loanops.approval a on a.id = v.approval_id
         where v.approval_id = ${id}`.execute(db)
    : { rows: [] }
  if (rows[0] === undefined) throw noApproval(id)
  return asJson<Item>(rows[0])
}

export const noApproval = (id: string) => new NotFound(`No approval ${id}`)

export async function countOpenApprovals(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from ops.approval where state = 'proposed'`.execute(db)
  return rows[0]?.count ?? 0
}
