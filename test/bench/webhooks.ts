// Webhooks acknowledged per second at 64 connections in one process, against one boss.send() per request and against
// single-row inserts at the same concurrency; then the latency at 2,000 a second.
import { sql } from 'kysely'
import pg from 'pg'
import { capturedA } from '../support/gateway-events.ts'
import { fireAt } from './fire.ts'
import { median } from './median.ts'
import { openStage } from './stage.ts'

const CONNECTIONS = 64
const SECONDS = Number(process.argv[2] ?? 8)
const RUNS = Number(process.argv[3] ?? 3)
const STEADY_RATE = 2_000
const TIMES = { connections: CONNECTIONS, seconds: SECONDS, warmUpSeconds: 1 }
const BODY = JSON.stringify(capturedA({ loan: 'L-1' }))

const stage = await openStage(['-c', 'max_connections=300'])
const service = await stage.run('api')
const sender = await stage.run('api', {}, 'test/bench/one-event-server.ts')
const webhook = `${service.url}/api/webhooks/gateway_a?lender=LENDER_02`
try {
  const rates = { ours: [] as number[], sends: [] as number[], inserts: [] as number[] }
  for (let run = 0; run < RUNS; run++) {
    rates.sends.push(await rateOf(sender.url))
    rates.ours.push(await rateOf(webhook))
    rates.inserts.push(await singleRowInserts())
  }
  const [ours, sends, inserts] = [median(rates.ours), median(rates.sends), median(rates.inserts)]
  console.log(
    `webhooks ${ours}/s, boss.send per request ${sends}/s, single-row inserts ${inserts}/s`,
  )
  console.log(
    `ratio to boss.send ${(ours / sends).toFixed(2)}, to inserts ${(ours / inserts).toFixed(2)}`,
  )
  const steady = await fireAt(webhook, () => BODY, { ...TIMES, perSecond: STEADY_RATE })
  console.log(`at ${steady.perSecond}/s: p50 ${steady.p50} ms, p99 ${steady.p99} ms`)
  console.log(`peak memory ${service.peakMiB()} MiB`)
} finally {
  await Promise.all([service.stop(), sender.stop()])
  await stage.close()
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
