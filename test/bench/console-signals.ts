import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { quantile } from './fire.ts'

const TIMES = 40
/** The gauges are measured every 15 s; by then each has been measured once. */
const MEASURED_MS = 20_000

/** What a scrape of a worker and a look at its queues take beside a long history. */
export async function measureSignals(workerUrl: string, db: Database): Promise<void> {
  await setTimeout(MEASURED_MS)
  await report('GET /metrics', async () => (await fetch(`${workerUrl}/metrics`)).text())
  await report('ops.queue', () => sql`select * from ops.queue`.execute(db))
  await report('ops.operation_stuck', () => sql`select * from ops.operation_stuck`.execute(db))
}

async function report(what: string, once: () => Promise<unknown>): Promise<void> {
  const took: number[] = []
  for (let n = 0; n < TIMES; n++) {
    const since = performance.now()
    await once()
    took.push(performance.now() - since)
  }
  took.sort((a, b) => a - b)
  const [p50, p95, max] = [0.5, 0.95, 1].map(q => quantile(took, q))
  console.log(`${what}: p50 ${p50} p95 ${p95} max ${max} ms`)
}
