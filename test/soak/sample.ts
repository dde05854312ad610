import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { type Installation, OBSERVER } from './installation.ts'
import { type Memory, memoryOf } from './processes.ts'
import { type Tables, tableSizes } from './tables.ts'

/** What autovacuum and pg-boss do once a minute is seen at its highest and lowest. */
export const WINDOW_MS = 60_000
const SAMPLE_EVERY_MS = 3_000

type Sample = {
  memory: Memory[]
  queueViewMs: number
  connections: number
  jobs: number
  tables: Tables
}

/** Looks at everything for a minute. */
export async function sampleForAMinute({ db, places }: Installation): Promise<Sample[]> {
  const samples: Sample[] = []
  for (const until = Date.now() + WINDOW_MS; Date.now() < until; await sleep(SAMPLE_EVERY_MS)) {
    samples.push({
      memory: await Promise.all(places.map(memoryOf)),
      queueViewMs: await queueViewMs(db),
      connections: await count(db, connections),
      jobs: await count(db, jobs),
      tables: await tableSizes(db),
    })
  }
  return samples
}

/** How long PostgreSQL takes for what an operator asks first, without the way to us. */
async function queueViewMs(db: Database): Promise<number> {
  const { rows } = await sql<{ 'QUERY PLAN': [{ 'Execution Time': number }] }>`
    explain (analyze, timing off, format json) select * from ops.queue`.execute(db)
  return rows[0]?.['QUERY PLAN'][0]['Execution Time'] ?? Number.NaN
}

const connections = sql<{ count: number }>`
  select count(*)::integer as count from pg_stat_activity
   where backend_type = 'client backend' and application_name <> ${OBSERVER}`
const jobs = sql<{ count: number }>`select count(*)::integer as count from pgboss.job`

async function count(db: Database, query: typeof jobs): Promise<number> {
  return (await query.execute(db)).rows[0]?.count ?? 0
}
