import type { Static } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { asJson } from '../../http/as-json.ts'
import type { AttemptRecord } from './history-record.ts'

export async function findAttempts(db: Database, id: string) {
  const { rows } = await sql<object>`
    with call as (
      select a.started_at, a.ended_at, a.http_status, a.outcome
        from core.posting p join loanops.operation_attempt a using (operation_id)
       where p.transaction_id = ${id}
      union all
      select o.claimed_at, null, null, null
        from core.posting p join loanops.operation o on o.id = p.operation_id
       where p.transaction_id = ${id} and o.status = 'processing' and o.claimed_by is not null
         and o.unstarted_attempt is distinct from o.attempt)
    select row_number() over (order by started_at)::integer as attempt, * from call
     order by started_at`.execute(db)
  return rows.map(asJson<Static<typeof AttemptRecord>>)
}
