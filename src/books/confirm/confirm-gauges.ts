import { sql } from 'kysely'
import { Gauge, type Registry } from 'prom-client'
import type { Database } from '../../database/database.ts'
import type { Log } from '../../log.ts'
import { measureEvery } from '../../ops/measure-every.ts'
import type { Job } from '../../queue/job.ts'

export function confirmGauges(registry: Registry, db: Database, log: Pick<Log, 'warn'>): Job {
  const waiting = new Gauge({
    name: 'loanops_payments_waiting_for_gateway',
    help: 'Payments, refunds and chargebacks that their gateway is still to confirm',
    labelNames: ['gateway'],
    registers: [registry],
  })
  return measureEvery(async () => {
    const { rows } = await sql<{ gateway: string; count: number }>`
      select gateway, count(*)::integer as count from core.question where said is null group by gateway`.execute(
      db,
    )
    waiting.reset()
    for (const { gateway, count } of rows) waiting.set({ gateway }, count)
  }, log)
}
