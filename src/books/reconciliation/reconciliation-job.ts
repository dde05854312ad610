import { sql } from 'kysely'
import { LOCKS } from '../../database/locks.ts'
import type { WorkerContext } from '../../engine/feature.ts'
import { asError } from '../../log/log.ts'
import { type Job, restAfter, startLoop } from '../../queue/job.ts'

/** Every change of a payment or a statement marks its day: a batch, a fetch, a read-back, a decision. */
const EVERY_MS = 5_000

type Context = Pick<WorkerContext, 'patient' | 'log'>
type Lost = { lender: string; gateway: string; currency: string }

export function runReconciliation(context: Context): Job {
  const onError = asError(context.log, 'a day could not be reconciled')
  return startLoop({ everyMs: EVERY_MS, onError }, stopping => reconcileChanged(context, stopping))
}

/** @returns for how long to rest, which many days do not prolong: each waits for its figures */
export async function reconcileChanged(
  { patient, log }: Context,
  stopping: AbortSignal,
): Promise<number> {
  let restMs = EVERY_MS
  for (const day of await changedDays({ patient })) {
    if (stopping.aborted) break
    const startedAt = performance.now()
    for (const lost of await reconcile({ patient }, day))
      log.warn({ day, ...lost }, 'day is no longer balanced')
    // Today is marked again and again, and takes longer with each of its payments.
    restMs = Math.max(restMs, restAfter(startedAt, EVERY_MS))
  }
  return restMs
}

async function changedDays({ patient }: Pick<Context, 'patient'>): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select day::text as day from core.changed_day group by changed_day.day
     order by changed_day.day desc`.execute(patient)
  return rows.map(({ day }) => day)
}

function reconcile({ patient }: Pick<Context, 'patient'>, day: string): Promise<Lost[]> {
  return patient.transaction().execute(async trx => {
    const { rows: locks } = await sql<{ isOurs: boolean }>`
      select pg_try_advisory_xact_lock(${LOCKS.reconciling}) as "isOurs"`.execute(trx)
    if (!locks[0]?.isOurs) return []
    const { rows } = await sql<Lost>`
      select lender, gateway, currency from core.reconcile_day(${day})`.execute(trx)
    return rows
  })
}
