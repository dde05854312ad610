import { sql } from 'kysely'
import { Counter, type Registry } from 'prom-client'
import type { Database } from '../database/database.ts'
import { purgeBy } from '../database/purge-in-steps.ts'
import type { Feature } from '../engine/feature.ts'
import type { Ask } from '../ops/health.ts'
import { type Measured, measure } from '../ops/measured.ts'

export const purgeCallbacks = purgeBy(
  // For a failed callback, next_try_at is the end of its last attempt. The retention counts from there, because the
  // retries alone may have taken longer, and only then can it be replayed.
  (retentionDays, most) => sql`
    delete from loanops.callback
     where id in (
       select id from loanops.callback
        where created_at < now() - ${retentionDays} * interval '1 day' and state <> 'pending'
          and coalesce(delivered_at, next_try_at) < now() - ${retentionDays} * interval '1 day'
        order by created_at limit ${most} for update skip locked)`,
)

export function callbackCounters(registers: Registry[]) {
  return {
    attempts: new Counter({
      name: 'loanops_callback_attempts_total',
      help: 'Attempts to deliver a callback, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
  }
}

/** A higher count would say nothing more, and take longer. */
const MAX_COUNTED = 100_000

const callbackGauges: Measured = {
  metrics: {
    pending: {
      name: 'loanops_callbacks_pending',
      help: `Callbacks that are not delivered yet, counted up to ${MAX_COUNTED}`,
    },
    failed: {
      name: 'loanops_callbacks_failed',
      help: `Callbacks whose retries are used up, counted up to ${MAX_COUNTED}`,
    },
    oldest: { name: 'loanops_callback_lag_seconds', help: 'Age of the oldest pending callback' },
    is_down: {
      name: 'loanops_callback_receiver_down',
      help: '1 while the receiver of callbacks fails, or after it answered 410',
    },
  },
  query: sql`
    select p.pending, p.oldest, f.failed, (loanops.receiver_state(r) <> 'up')::integer as is_down
      from loanops.callback_receiver r
     cross join lateral (
       select count(*)::integer as pending, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest
         from (select created_at from loanops.callback where state = 'pending' limit ${MAX_COUNTED}) one) p
     cross join lateral (
       select count(*)::integer as failed
         from (select from loanops.callback where state = 'failed' limit ${MAX_COUNTED}) one) f
     -- Without CALLBACK_URL, nobody sends what is left.
     where r.types <> '{}'`,
}

/** Triggers in the database record what must be reported, in the transaction in which it becomes true. */
export const callbacksFeature = {
  gauges: [measure([callbackGauges])],
  counters: callbackCounters,
  report: callbackReport,
  crashPoints: ['callback.numbered', 'callback.claimed', 'callback.answered', 'callback.recorded'],
  purge: { setting: 'OPERATION_RETENTION_DAYS', kind: 'callbacks', run: purgeCallbacks },
} satisfies Feature

/** Anybody may ask readyz, at any time: it tells a few failed callbacks from many, at a small cost. */
const MAX_REPORTED = 1_000

type Callbacks = { failed: number; receiver: 'up' | 'down' | 'stopped' }

/** The callbacks' part of readyz; null while none are sent, or the database does not answer. */
async function callbackReport(ask: Ask): Promise<{ callbacks: Callbacks | null }> {
  return { callbacks: await ask(readCallbacks, null) }
}

async function readCallbacks(db: Database): Promise<Callbacks | null> {
  const { rows } = await sql<Callbacks>`
    select (select count(*)::integer from (
             select from loanops.callback where state = 'failed' limit ${MAX_REPORTED}) f) as failed,
           loanops.receiver_state(r) as receiver
      from loanops.callback_receiver r where types <> '{}'`.execute(db)
  return rows[0] ?? null
}
