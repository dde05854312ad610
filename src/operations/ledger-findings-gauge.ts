import { sql } from 'kysely'
import { Gauge, type Registry } from 'prom-client'
import type { Database } from '../database/database.ts'
import type { Log } from '../log.ts'
import { measureEvery } from '../ops/measure-every.ts'
import type { Job } from '../queue/job.ts'

export function ledgerFindingsGauge(registry: Registry, db: Database, log: Pick<Log, 'warn'>): Job {
  const gauge = new Gauge({
    name: 'loanops_ledger_findings',
    help: 'What the last check of the ledger’s set-up found',
    labelNames: ['check', 'state'],
    registers: [registry],
  })
  return measureEvery(async () => {
    const { rows } = await sql<{ check: string; state: string; findings: number }>`
      select "check", state, count(*)::int as findings from ops.ledger_finding group by "check", state`.execute(
      db,
    )
    gauge.reset()
    for (const { check, state, findings } of rows) gauge.set({ check, state }, findings)
  }, log)
}
