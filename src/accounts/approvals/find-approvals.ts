import type { Static } from '@sinclair/typebox'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { equalTo } from '../../database/equal-to.ts'
import { openView } from '../../http/lists/open-view.ts'
import type { Approval } from './approval-record.ts'

type Filter = { state?: string; act?: string }
type Query = Filter & { limit: number; cursor?: string }

const STORED = sql`ops.approval v join loanops.approval a on a.id = v.approval_id`
const items = sql<object>`
  select v.approval_id, v.act, v.subject, trim_scale(v.amount)::text as amount, v.currency, v.state, v.proposed_by, v.proposed_at,
         v.note, v.decided_by, v.decided_at, v.decision_note, v.expires_at, a.call, a.request - 'password_hash' as request, a.facts
    from ${STORED}`
const view = openView<Static<typeof Approval>>(items, 'approval_id', 'approval')
export const findApproval = view.one

export const findApprovals = (db: Database, query: Query) => view.page(db, query, isWanted(query))

export const someApprovals = (filter: Filter): RawBuilder<unknown> =>
  sql`select from ${STORED} where ${isWanted(filter)}`

const isWanted = ({ state, act }: Filter) => sql`
  (${state ?? null}::text is null or v.state = ${state} and a.state in (${state}, 'proposed')) and ${equalTo({ 'v.act': act })}`

/** Every page of the console asks this: it reads only what is not decided yet. */
export async function countOpenApprovals(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from ${STORED}
     where a.state = 'proposed' and v.state = 'proposed'`.execute(db)
  return rows[0]?.count ?? 0
}
