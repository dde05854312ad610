import type { Static } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { equalTo } from '../../database/equal-to.ts'
import { asJson } from '../../http/as-json.ts'
import { pageOfView } from '../../http/lists/page-of-view.ts'
import { rowById } from '../../http/lists/row-by-id.ts'
import type { Approval } from './approval-record.ts'

type Item = Static<typeof Approval>
type Query = { state?: string; act?: string; limit: number; cursor?: string }

const items = sql<Item>`
  select v.approval_id, v.act, v.subject, trim_scale(v.amount)::text as amount, v.currency, v.state, v.proposed_by, v.proposed_at,
         v.note, v.decided_by, v.decided_at, v.decision_note, v.expires_at, a.request - 'password_hash' as request, a.facts
    from ops.approval v join loanops.approval a on a.id = v.approval_id`

export async function findApprovals(db: Database, query: Query) {
  const { state = null, act } = query
  const wanted = sql`
    (${state}::text is null or v.state = ${state} and a.state in (${state}, 'proposed')) and ${equalTo({ 'v.act': act })}`
  const view = { key: 'approval_id', select: items, wanted } as const
  const { page, next_cursor } = await pageOfView(db, query, view)
  return { approvals: page.map(asJson<Item>), next_cursor }
}

/** @throws NotFound */
export async function findApproval(db: Database, id: string): Promise<Item> {
  const one = sql<Item>`${items} where v.approval_id = ${id}`
  return asJson<Item>(await rowById(db, id, `No approval ${id}`, one))
}

/** Every page of the console asks this: it reads only what is not decided yet. */
export async function countOpenApprovals(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from ops.approval v join loanops.approval a on a.id = v.approval_id
     where a.state = 'proposed' and v.state = 'proposed'`.execute(db)
  return rows[0]?.count ?? 0
}
