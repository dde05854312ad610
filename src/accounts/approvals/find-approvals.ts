import type { Static } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { equalTo } from '../../database/equal-to.ts'
import { openView } from '../../http/lists/open-view.ts'
import type { Approval } from './approval-record.ts'

type Query = { state?: string; act?: string; limit: number; cursor?: string }

const items = sql<object>`
  select v.approval_id, v.act, v.subject, trim_scale(v.amount)::text as amount, v.currency, v.state, v.proposed_by, v.proposed_at,
         v.note, v.decided_by, v.decided_at, v.decision_note, v.expires_at, a.call, a.request - 'password_hash' as request, a.facts
    from ops.approval v join loanops.approval a on a.id = v.approval_id`
const view = openView<Static<typeof Approval>>(items, 'approval_id', 'approval')
export const findApproval = view.one

export function findApprovals(db: Database, query: Query) {
  const { state = null, act } = query
  const wanted = sql`
    (${state}::text is null or v.state = ${state} and a.state in (${state}, 'proposed')) and ${equalTo({ 'v.act': act })}`
  return view.page(db, query, wanted)
}

/** Every page of the console asks this: it reads only what is not decided yet. */
export async function countOpenApprovals(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from ops.approval v join loanops.approval a on a.id = v.approval_id
     where a.state = 'proposed' and v.state = 'proposed'`.execute(db)
  return rows[0]?.count ?? 0
}
