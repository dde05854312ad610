import { sql } from 'kysely'
import { Gauge, type Registry } from 'prom-client'
import type { Database } from '../database/database.ts'
import type { Log } from '../log.ts'
import { measureEvery } from '../ops/measure-every.ts'
import type { Job } from '../queue/job.ts'

export function readbackGauges(registry: Registry, db: Database, log: Pick<Log, 'warn'>): Job {
  const age = new Gauge({
    name: 'loanops_readback_age_seconds',
    help: 'Time since the last completed read-back or, before the first, since it was due',
    registers: [registry],
  })
  return measureEvery(async () => age.set(await ageOfLast(db)), log)
}

async function ageOfLast(db: Database): Promise<number> {
  const { rows } = await sql<{ age: number }>`
    select coalesce(extract(epoch from now() - coalesce(max(ended_at), min(requested_at))), 0)::float8 as age
      from core.readback_run`.execute(db)
  return rows[0]?.age ?? 0
}
