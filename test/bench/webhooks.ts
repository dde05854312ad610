// Webhooks acknowledged per second at 64 connections in one process, against one boss.send() per request, to a queue that
// wakes a worker and to one that is polled, and against single-row inserts at the same concurrency; then the latency at 2,000
// a second.
import { sql } from 'kysely'
import pg from 'pg'
import { capturedA } from '../support/payments/gateway-events.ts'
import { fireAt } from './fire.ts'
import { median } from './median.ts'
import { openStage } from './stage.ts'

const CONNECTIONS = 64
const SECONDS = Number(process.argv[2] ?? 8)
const RUNS = Number(process.argv[3] ?? 3)
const STEADY_RATE = 2_000
const TIMES = { connections: CONNECTIONS, seconds: SECONDS, warmUpSeconds: 1 }
const BODY = JSON.stringify(capturedA({ loan: 'L-1' }))

const stage = await openStage({ flags: ['-c', 'max_connections=300'] })
const service = await stage.run('api')
const senders = { waking: await startSender(true), polled: await startSender(false) }
const webhook = `${service.url}/api/webhooks/gateway_a?lender=LENDER_02`
try {
  const rates: Record<string, number[]> = {}
  const note = (of: string, rate: number) => (rates[of] = [...(rates[of] ?? []), rate])
  for (let run = 0; run < RUNS; run++) {
    note('boss.send to a queue that wakes a worker', await rateOf(senders.waking.url))
    note('ours', await rateOf(webhook))
    note('boss.send to a polled queue', await rateOf(senders.polled.url))
    note('single-row inserts', await singleRowInserts())
  }
  const { ours = [], ...baselines } = rates
  console.log(`webhooks ${median(ours)}/s (${ours.join(', ')})`)
  for (const [name, those] of Object.entries(baselines))
    console.log(`${(median(ours) / median(those)).toFixed(2)} × ${name}, ${median(those)}/s`)
  const steady = await fireAt(webhook, () => BODY, { ...TIMES, perSecond: STEADY_RATE })
  console.log(`at ${steady.perSecond}/s: p50 ${steady.p50} ms, p99 ${steady.p99} ms`)
  console.log(`peak memory ${service.peakMiB()} MiB`)
} finally {
  await Promise.all([service, senders.waking, senders.polled].map(({ stop }) => stop()))
  await stage.close()
}

function startSender(notifies: boolean) {
  const changes = { BENCH_NOTIFIES: String(notifies) }
  return stage.run('api', changes, 'test/bench/one-event-server.ts')
}

async function rateOf(url: string): Promise<number> {
  const { perSecond, refused } = await fireAt(url, () => BODY, TIMES)
  if (refused > 0) throw new Error(`${url}: ${refused} refused`)
  return perSecond
}

async function singleRowInserts(): Promise<number> {
  await sql`create table if not exists inserted (body text)`.execute(stage.db)
  const pool = new pg.Pool({ connectionString: stage.databaseUrl, max: CONNECTIONS })
  const until = Date.now() + SECONDS * 1_000
  let rows = 0
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const client = await pool.connect()
      while (Date.now() < until) {
        await client.query({
          name: 'i',
          text: 'insert into inserted (body) values ($1)',
          values: [BODY],
        })
        rows++
      }
      client.release()
    }),
  )
  await pool.end()
  return Math.round(rows / SECONDS)
}
