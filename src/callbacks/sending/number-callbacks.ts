import { sql } from 'kysely'
import { crashPoint } from '../../crash-point.ts'
import type { Database, Trx } from '../../database/database.ts'
import { isTransient } from '../../database/transient.ts'
import type { Log } from '../../log/log.ts'
import { publicReason } from '../../log/public-error.ts'
import { lockCallbacks } from '../lock-callbacks.ts'
import { callbackBody, type NumberedCallback } from './callback-body.ts'

/** Few enough that due callbacks do not wait for the numbering. */
const CALLBACKS_AT_ONCE = 500

const unnumbered = sql`body is null and state <> 'failed'`

class Unbuildable extends Error {
  readonly callback: string
  constructor(callback: string, cause: Error) {
    super('the body of a callback cannot be built', { cause })
    this.callback = callback
  }
}

/** Numbers callbacks. One whose body cannot be built has failed, and delays no other. @returns whether there are more */
export async function numberCallbacks(db: Database, log: Pick<Log, 'error'>): Promise<boolean> {
  const { rows } = await sql`select from loanops.callback where ${unnumbered} limit 1`.execute(db)
  if (rows.length === 0) return false
  try {
    const count = await db.transaction().execute(numberNext)
    return count === CALLBACKS_AT_ONCE
  } catch (error) {
    if (!(error instanceof Unbuildable)) throw error
    log.error({ err: error, callback: error.callback }, 'a callback cannot be sent')
    await giveUp(db, error)
    return true
  }
}

async function numberNext(trx: Trx): Promise<number> {
  await lockCallbacks(trx)
  const numbered = await withSequence(trx)
  const bodies: object[] = []
  for (const callback of numbered) {
    const { id, sequence } = callback
    bodies.push({ id, sequence, body: await bodyOf(trx, callback) })
  }
  if (bodies.length > 0) await storeBodies(trx, bodies)
  crashPoint('callback.numbered')
  return numbered.length
}

async function bodyOf(trx: Trx, callback: NumberedCallback): Promise<string> {
  try {
    return await callbackBody(trx, callback)
  } catch (error) {
    throw isTransient(error) ? error : new Unbuildable(callback.id, error as Error)
  }
}

/** A failed callback gets no sequence number, so its subject's sequence has no gap. */
async function giveUp(db: Database, { callback, message, cause }: Unbuildable): Promise<void> {
  const reason = `${message}: ${publicReason(cause)}`
  await sql`
    update loanops.callback set state = 'failed', last_error = ${reason}, next_try_at = clock_timestamp()
     where id = ${callback} and ${unnumbered}`.execute(db)
}

async function withSequence(trx: Trx): Promise<NumberedCallback[]> {
  const { rows } = await sql<NumberedCallback>`
    with fresh as materialized (
      select * from loanops.callback where ${unnumbered} order by seq limit ${CALLBACKS_AT_ONCE}
    ), counted as (
      insert into loanops.callback_subject as s (subject, sequence)
      select subject, r.first_sequence + count(*) from fresh cross join loanops.callback_receiver r
       group by subject, r.first_sequence order by subject
      on conflict (subject) do update
         set sequence = s.sequence + excluded.sequence - (select first_sequence from loanops.callback_receiver)
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

async function storeBodies(trx: Trx, bodies: object[]): Promise<void> {
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
