import type { Static } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { asJson } from '../http/as-json.ts'
import type { PaymentWithHistory } from './payment-record.ts'

type History = Static<typeof PaymentWithHistory>

/** The raw rows of a payment's events, oldest first, each with its bytes. */
export async function findEvents(db: Database, id: string) {
  const { rows: sources } = await sql<{ source: string; ids: string[] }>`
    select e.source, array_agg(e.raw_id::text) as ids
      from core.transaction t
      join core.event e on e.gateway_payment_id = t.gateway_payment_id and e.gateway = t.gateway and e.kind = t.kind
     where t.id = ${id}
     group by e.source`.execute(db)
  const events: { received_at: Date }[] = []
  for (const { source, ids } of sources) {
    const { rows } = await sql<{ received_at: Date }>`
      select ${`raw.${source}`} as raw_table, id as raw_id, event_id, event_type, received_at, host(address) as address,
             verified_by, headers, translate(encode(body, 'base64'), E'\n', '') as body_base64
        from ${sql.table(`raw.${source}`)}
       where id = any(${ids}::uuid[])`.execute(db)
    events.push(...rows)
  }
  return events
    .sort((a, b) => a.received_at.getTime() - b.received_at.getTime())
    .map(asJson<History['events'][number]>)
}

/** Each call that tried to post it, including one in progress. */
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
    select row_number() over (order by started_at)::integer as attempt, * from call order by started_at`.execute(
    db,
  )
  return rows.map(asJson<History['attempts'][number]>)
}
