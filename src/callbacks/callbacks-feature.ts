import { sql } from 'kysely'
import { Counter, type Registry } from 'prom-client'
import type { Feature } from '../engine/feature.ts'
import { type Measured, measure } from '../ops/measured.ts'
import { callbackReport } from './callback-report.ts'
import { purgeCallbacks } from './purge-callbacks.ts'

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
