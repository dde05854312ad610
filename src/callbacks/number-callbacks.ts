import { sql } from 'kysely'
import { crashPoint } from '../crash-point.ts'
import type { Database, Trx } from '../database/database.ts'
import { callbackBody, type NumberedCallback } from './callback-body.ts'

/** Few enough that due callbacks do not wait for it. */
const CALLBACKS_AT_ONCE = 500

export async function numberCallbacks(db: Database): Promise<boolean> {
  const { rows } = await sql`select from loanops.callback where body is null limit 1`.execute(db)
  if (rows.length === 0) return false
  const count = await db.transaction().execute(async trx => {
    await sql`select loanops.lock_callbacks()`.execute(trx)
    const numbered = await withSequence(trx)
    const bodies: object[] = []
    for (const callback of numbered)
      bodies.push({
        id: callback.id,
        sequence: callback.sequence,
        body: await callbackBody(trx, callback),
      })
    if (bodies.length > 0) await keep(trx, bodies)
    crashPoint('callback.numbered')
    return numbered.length
  })
  return count === CALLBACKS_AT_ONCE
}

async function withSequence(trx: Trx): Promise<NumberedCallback[]> {
  const { rows } = await sql<NumberedCallback>`
    with fresh as materialized (
      select * from loanops.callback where body is null order by seq limit ${CALLBACKS_AT_ONCE}
    ), counted as (
      insert into loanops.callback_subject as s (subject, sequence)
      select subject, count(*) from fresh group by subject order by subject
      on conflict (subject) do update set sequence = s.sequence + excluded.sequence
      returning subject, sequence
    )
    select f.id, f.type, f.about, f.occurred_at as "occurredAt", f.snapshot,
           c.sequence - count(*) over (partition by f.subject) + row_number() over (partition by f.subject order by f.seq)
             as sequence,
           case when o.id is not null then json_build_object('id', o.id, 'operationType', o.operation_type,
             'status', o.status, 'response', o.response, 'errorMessage', o.error_message, 'processedAt', o.processed_at,
             'externalId', o.external_id, 'data', o.data) end as operation
      from fresh f
      join counted c using (subject)
      left join loanops.operation o on o.id = f.about and f.type like 'operation.%'
     order by f.seq`.execute(trx)
  return rows
}

async function keep(trx: Trx, bodies: object[]): Promise<void> {
  await sql`
    update loanops.callback c
       set sequence = b.sequence, body = b.body, snapshot = null
      from json_to_recordset(${JSON.stringify(bodies)}) as b (id uuid, sequence bigint, body text)
     where c.id = b.id`.execute(trx)
  const ids = bodies.map(one => (one as { id: string }).id)
  await sql`
    select loanops.choose_next_callbacks(array(
      select distinct subject from loanops.callback where id = any(${ids}::uuid[])))`.execute(trx)
}
