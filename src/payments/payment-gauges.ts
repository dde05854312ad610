import { sql } from 'kysely'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Database } from '../database/database.ts'
import type { Log } from '../log.ts'
import { measureEvery } from '../ops/measure-every.ts'
import type { Job } from '../queue/job.ts'

type Measured = {
  lag: number
  suspense: Record<string, number>
  objections: Record<string, number>
  unknown: Record<string, number>
  misfits: number
}

export function paymentGauges(
  registry: Registry,
  db: Database,
  log: Pick<Log, 'warn'>,
  everyMs?: number,
): Job {
  const show = openGauges([registry])
  return measureEvery(async () => show(await measure(db)), log, everyMs)
}

function openGauges(registers: Registry[]): (measured: Measured) => void {
  const lag = new Gauge({
    name: 'loanops_payment_lag_seconds',
    help: 'Age of the oldest payment event that no batch has transformed, or payment that is not posted yet',
    registers,
  })
  const suspense = new Gauge({
    name: 'loanops_payments_in_suspense',
    help: 'Payments, refunds and chargebacks in suspense, by reason',
    labelNames: ['reason'],
    registers,
  })
  const objections = new Gauge({
    name: 'loanops_payments_with_objection',
    help: 'Payments that later events or the ledger contradict, by objection',
    labelNames: ['objection'],
    registers,
  })
  const unknown = new Counter({
    name: 'loanops_unknown_events_total',
    help: 'Payment events of types that are not listed, by source',
    labelNames: ['source'],
    registers,
  })
  const misfits = new Gauge({
    name: 'loanops_raw_tables_without_source',
    help: 'Tables in raw that cannot become sources, because of their name or columns',
    registers,
  })
  return measured => {
    lag.set(measured.lag)
    misfits.set(measured.misfits)
    suspense.reset()
    for (const [reason, count] of Object.entries(measured.suspense)) suspense.set({ reason }, count)
    objections.reset()
    for (const [objection, count] of Object.entries(measured.objections))
      objections.set({ objection }, count)
    // Counted in the database, by whichever process transformed them.
    unknown.reset()
    for (const [source, count] of Object.entries(measured.unknown)) unknown.inc({ source }, count)
  }
}

/** The first in the index is the oldest, because ids grow with time. */
async function measure(db: Database): Promise<Measured> {
  const { rows } = await sql<Measured>`
    with recursive source (name) as (
      (select source from core.pending_event order by source limit 1)
      union all
      select (select source from core.pending_event where source > s.name order by source limit 1)
        from source s where s.name is not null
    ), oldest (received_at) as (
      select (select received_at from core.pending_event where source = s.name order by raw_id limit 1) from source s
      union all
      select (select received_at from core.transaction where state = 'waiting' order by id limit 1)
      union all
      select (select received_at from core.transaction where state = 'posting' order by id limit 1)
    )
    select coalesce(extract(epoch from now() - min(received_at)), 0)::float8 as lag,
           coalesce((select json_object_agg(reason, count) from (
             select reason, count(*) from core.transaction where state = 'suspense' group by reason) s), '{}') as suspense,
           coalesce((select json_object_agg(objection, count) from (
             select objection, count(*) from core.transaction where objection is not null group by objection) o), '{}') as objections,
           coalesce((select json_object_agg(source, events) from (
             select source, sum(events) as events from core.event_type where taken = 'unknown' group by source) u), '{}') as unknown,
           (select count(*)::integer from raw.misfits()) as misfits
      from oldest`.execute(db)
  return rows[0] as Measured
}
