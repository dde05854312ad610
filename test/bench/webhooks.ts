// Webhooks acknowledged per second at 64 connections in one process, against one boss.send() per request and against
// single-row inserts at the same concurrency; then the latency at 2,000 a second.
import { spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { fastify } from 'fastify'
import pg from 'pg'
import { readConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { logger } from '../../src/log.ts'
import { eventQueue } from '../../src/payments/queue.ts'
import { openQueue } from '../../src/queue/queue.ts'
import { startRole } from '../../src/role.ts'
import { allQueues } from '../../src/worker.ts'
import { capturedA } from '../support/gateway-events.ts'
import { testEnv } from '../support/service.ts'
import { median } from './median.ts'

const CONNECTIONS = 64
const SECONDS = Number(process.argv[2] ?? 8)
const RUNS = Number(process.argv[3] ?? 3)
const STEADY_RATE = 2_000
const BODY = JSON.stringify(capturedA({ loan: 'L-1' }))

const folder = resolve('.data/bench-webhooks')
rmSync(folder, { recursive: true, force: true })
mkdirSync(resolve('.data'), { recursive: true })
const postgres = await startPostgres({
  folder,
  password: 'bench',
  flags: ['-c', 'max_connections=300'],
})
try {
  await migrate(postgres.url, allQueues)
  const rates = { ours: [] as number[], sends: [] as number[], inserts: [] as number[] }
  for (let run = 0; run < RUNS; run++) {
    rates.sends.push(await sendPerRequest())
    rates.ours.push((await webhooks()).rate)
    rates.inserts.push(await singleRowInserts())
  }
  const [ours, sends, inserts] = [median(rates.ours), median(rates.sends), median(rates.inserts)]
  console.log(
    `webhooks ${ours}/s, boss.send per request ${sends}/s, single-row inserts ${inserts}/s`,
  )
  console.log(
    `ratio to boss.send ${(ours / sends).toFixed(2)}, to inserts ${(ours / inserts).toFixed(2)}`,
  )
  const { rate, p50, p99 } = await webhooks(STEADY_RATE)
  console.log(`at ${rate}/s: p50 ${p50} ms, p99 ${p99} ms`)
  console.log(`peak memory ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB`)
} finally {
  await postgres.close()
}

async function webhooks(rate?: number) {
  const env = testEnv(postgres.url, 'http://127.0.0.1:1/api/v1', {
    ROLE: 'api',
    DATABASE_POOL_MAX: '20',
  })
  const service = await startRole(readConfig(env), logger('silent'))
  try {
    return await cannon(`${service.url}/api/webhooks/gateway_a?lender=LENDER_02`, rate)
  } finally {
    await service.close()
  }
}

async function sendPerRequest(): Promise<number> {
  const boss = openQueue(postgres.url, { isWorker: false, name: 'bench', onError: console.error })
  await boss.start()
  const app = fastify()
  app.post('/', async request => {
    await boss.send(eventQueue.name, { events: [request.body] })
    return { received: true }
  })
  const url = await app.listen({ port: 0 })
  try {
    return (await cannon(url)).rate
  } finally {
    await app.close()
    await boss.stop({ graceful: false })
  }
}

async function singleRowInserts(): Promise<number> {
  const db = openDatabase(postgres.url, { max: 1, name: 'bench', onError: console.error })
  await db.schema.createTable('inserted').ifNotExists().addColumn('body', 'text').execute()
  await db.destroy()
  const pool = new pg.Pool({ connectionString: postgres.url, max: CONNECTIONS })
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

/** In a separate process, so that it does not share the server's event loop. */
async function cannon(
  url: string,
  rate?: number,
): Promise<{ rate: number; p50: number; p99: number }> {
  const args = ['-j', '-c', String(CONNECTIONS), '-d', String(SECONDS), '-m', 'POST', '-b', BODY]
  const headers = ['-H', 'content-type=application/json']
  const steady = rate === undefined ? [] : ['-R', String(rate)]
  const child = spawn(
    resolve('node_modules/.bin/autocannon'),
    [...args, ...headers, ...steady, url],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  let text = ''
  for await (const part of child.stdout) text += part
  const result = JSON.parse(text)
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refused, ${result.errors} errors`)
  return {
    rate: Math.round(result.requests.average),
    p50: result.latency.p50,
    p99: result.latency.p99,
  }
}
