import { sql } from 'kysely'
import { Gauge, type Registry } from 'prom-client'
import type { Database } from '../database/database.ts'
import type { Log } from '../log.ts'
import { measureEvery } from '../ops/measure-every.ts'
import type { Job } from '../queue/job.ts'

type Measured = { pending: number; failed: number; oldest: number; isDown: boolean }
/** A higher count would say nothing more, and take longer. */
const MAX_COUNTED = 100_000

export function callbackGauges(registry: Registry, db: Database, log: Pick<Log, 'warn'>): Job {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] })
  const pending = gauge(
    'loanops_callbacks_pending',
    `Callbacks that are not delivered yet, counted up to ${MAX_COUNTED}`,
  )
  const failed = gauge(
    'loanops_callbacks_failed',
    `Callbacks whose retries are used up, counted up to ${MAX_COUNTED}`,
  )
  const oldest = gauge('loanops_callback_lag_seconds', 'Age of the oldest pending callback')
  const isDown = gauge(
    'loanops_callback_receiver_down',
    '1 while the receiver of callbacks fails, or after it answered 410',
  )
  return measureEvery(async () => {
    const measured = await measure(db)
    pending.set(measured.pending)
    failed.set(measured.failed)
    oldest.set(measured.oldest)
    isDown.set(Number(measured.isDown))
  }, log)
}

async function measure(db: Database): Promise<Measured> {
  const { rows } = await sql<Measured>`
    select p.pending, p.oldest, f.failed, loanops.receiver_state(r) <> 'up' as "isDown"
      from loanops.callback_receiver r
     cross join lateral (
       select count(*)::integer as pending, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest
         from (select created_at from loanops.callback where state = 'pending' limit ${MAX_COUNTED}) one) p
     cross join lateral (
       select count(*)::integer as failed
         from (select from loanops.callback where state = 'failed' limit ${MAX_COUNTED}) one) f`.execute(
    db,
  )
  return rows[0] as Measured
}
