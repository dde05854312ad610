import { sql } from 'kysely'
import { Gauge, type Registry } from 'prom-client'
import type { Database } from '../../database/database.ts'
import type { Log } from '../../log.ts'
import { measureEvery } from '../../ops/measure-every.ts'
import type { Job } from '../../queue/job.ts'

type Source = {
  gateway: string
  lender: string
  behind: number | null
  isSilent: boolean
  hasError: boolean
}

export function backfillGauges(registry: Registry, db: Database, log: Pick<Log, 'warn'>): Job {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['gateway', 'lender'], registers: [registry] })
  const behind = gauge(
    'loanops_gateway_behind_seconds',
    'Age of the time up to which the payments of a source are fetched',
  )
  const silent = gauge(
    'loanops_gateway_silent',
    '1 while a source sends nothing, where in each of the last weeks several events came',
  )
  const failing = gauge(
    'loanops_gateway_fetch_failing',
    '1 while the last fetch of a source has failed or is held up',
  )
  return measureEvery(async () => {
    const sources = await measure(db)
    for (const one of [behind, silent, failing]) one.reset()
    for (const { gateway, lender, behind: seconds, isSilent, hasError } of sources) {
      const labels = { gateway, lender }
      if (seconds !== null) behind.set(labels, seconds)
      silent.set(labels, Number(isSilent))
      failing.set(labels, Number(hasError))
    }
  }, log)
}

async function measure(db: Database): Promise<Source[]> {
  const { rows } = await sql<Source>`
    select gateway, coalesce(lender, '') as lender, behind_seconds::float8 as behind, is_silent as "isSilent",
           last_error is not null as "hasError"
      from ops.gateway`.execute(db)
  return rows
}
