import { sql } from 'kysely'
import { crashPoint } from '../../crash-point.ts'
import type { Database, Row } from '../../database/database.ts'
import { lockCallbacks } from '../lock-callbacks.ts'
import type { SentCallback } from './callback-sender.ts'
import type { ClaimedCallback } from './claim-callbacks.ts'
import { nextRetryMs } from './next-retry.ts'

/** With a receiver's timeout of 15 s, a receiver that is down is probed at least every 30 s. */
const PROBE_AFTER_SECONDS = 10

export type CallbackResult = { callback: ClaimedCallback; sent: SentCallback }

export async function recordCallbacks(db: Database, results: CallbackResult[]): Promise<void> {
  await db.transaction().execute(async trx => {
    await lockCallbacks(trx)
    const { rows } = await sql<Row<'loanops.callback', 'subject'>>`
      with result as (
        select * from json_to_recordset(${JSON.stringify(results.map(row))}) as (id uuid, claim integer, started_at timestamptz,
          ended_at timestamptz, state text, http_status integer, error text, answer text, uses_retry boolean,
          retry_ms double precision, due_at timestamptz)
      ), recorded as (
        update loanops.callback c
           set state = r.state, attempts = c.attempts + 1, retries = c.retries + r.uses_retry::integer,
               is_next = r.state = 'pending', last_status = r.http_status, last_error = r.error,
               next_try_at = coalesce(r.due_at, clock_timestamp() + r.retry_ms * interval '1 millisecond'),
               delivered_at = case when r.state = 'delivered' then r.ended_at end
          from result r
         -- A delivery counts though the callback was sent again meanwhile: otherwise nothing would show it.
         where c.id = r.id and (c.claim = r.claim or r.state = 'delivered') and c.state = 'pending'
        returning c.id, c.subject, c.attempts
      ), saved as (
        insert into loanops.callback_attempt (callback_id, attempt, started_at, ended_at, http_status, error, answer)
        select c.id, c.attempts, r.started_at, r.ended_at, r.http_status, r.error, r.answer
          from recorded c join result r using (id)
      )
      select subject from recorded`.execute(trx)
    await sql`
      select loanops.choose_next_callbacks(${rows.map(({ subject }) => subject)})`.execute(trx)
    await noteReceiver(trx, results)
    crashPoint('callback.recorded')
  })
}

function row({ callback, sent }: CallbackResult) {
  const retryMs = nextRetryMs(callback.retries, sent.retryAfterMs)
  const isFailure = sent.outcome === 'failed' && !callback.isAhead
  const isExhausted = isFailure && retryMs === undefined
  return {
    id: callback.id,
    claim: callback.claim,
    started_at: sent.startedAt,
    ended_at: sent.endedAt,
    state: sent.outcome === 'delivered' ? 'delivered' : isExhausted ? 'failed' : 'pending',
    http_status: sent.status,
    error: sent.error,
    answer: sent.answer,
    uses_retry: isFailure && !isExhausted,
    retry_ms: retryMs ?? 0,
    // Neither a probe ahead of the schedule nor a 410 changes the schedule.
    due_at: isFailure ? null : callback.dueAt,
  }
}

/** Any delivery shows that the receiver is up. */
async function noteReceiver(db: Database, results: CallbackResult[]): Promise<void> {
  const failures = results.filter(({ sent }) => sent.outcome === 'failed').length
  const isUp = results.some(({ sent }) => sent.outcome === 'delivered')
  const isGone = results.some(({ sent }) => sent.outcome === 'gone')
  if (isUp && !isGone)
    // While all goes well, no row is written.
    await sql`update loanops.callback_receiver set failures = 0 where failures > 0`.execute(db)
  else
    await sql`
      update loanops.callback_receiver
         set failures = failures + ${failures},
             next_probe_at = now() + make_interval(secs => ${PROBE_AFTER_SECONDS}),
             -- An attempt that was under way when the receiver answered 410 does not resume callbacks.
             stopped_at = case when ${isGone} then coalesce(stopped_at, now())
                               else stopped_at end`.execute(db)
}
