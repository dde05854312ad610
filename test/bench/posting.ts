// Posting repayments: rate against a bare undici loop that makes the same calls at the same concurrency.
// node test/bench/posting.ts [payments] [loans] [milliseconds that the ledger takes]

import { spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Pool } from 'undici'
import { readConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate/migrate.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { logger } from '../../src/log/log.ts'
import { startRole } from '../../src/role.ts'
import { allQueues } from '../../src/worker.ts'
import { LEDGER_HEADERS } from '../support/ledger/ledger-driver.ts'
import { control } from '../support/ledger/loans.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { withLedger } from '../support/payments/payments.ts'
import { caller, testEnv } from '../support/service.ts'

/** Seldom enough not to count as load. */
const ASK_EVERY_MS = 250

const payments = Number(process.argv[2] ?? 10_000)
const loans = Number(process.argv[3] ?? 5_000)
/** A Fineract on two cores takes 25 to 100 ms. */
const latencyMs = Number(process.argv[4] ?? 25)
/** A batch gets four of eight slots. */
const SLOTS = 8
const MAX_CONCURRENT = 4

const folder = resolve('.data/bench-posting')
rmSync(folder, { recursive: true, force: true })
mkdirSync(resolve('.data'), { recursive: true })
const postgres = await startPostgres({ folder, password: 'bench' })
const sandbox = spawn(process.execPath, ['src/main.ts', 'sandbox', '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  await migrate(postgres.url, allQueues)
  const ledgerUrl = await new Promise<string>(done =>
    sandbox.stdout.once('data', text => done(String(text).trim())),
  )
  const db = openDatabase(postgres.url, { max: 4, name: 'bench', onError: console.error })
  const env = testEnv(postgres.url, ledgerUrl, { LEDGER_CONCURRENCY: String(SLOTS) })
  const config = readConfig(env)
  const service = await startRole(config, logger('error'))
  const controlUrl = ledgerUrl.replace('/fineract-provider/api/v1', '/control')
  const ledger = { url: ledgerUrl, controlUrl }
  const call = caller(service.url)
  const { loan } = withLedger({
    url: service.url,
    db,
    databaseUrl: postgres.url,
    ledger,
    config,
    call,
  })
  for (let i = 0; i < loans; i += MAX_CONCURRENT)
    await Promise.all(Array.from({ length: MAX_CONCURRENT }, (_, j) => loan(`L-${i + j}`)))

  if (latencyMs > 0)
    await control({ ledger }, 'PUT', '/faults', [{ kind: 'latency', ms: latencyMs }])
  const bare = await bareLoop(ledgerUrl)
  await sql`select raw.make_store('LENDER_02', 'gateway_a')`.execute(db)
  for (let i = 0; i < payments; i++) {
    const event = capturedA({ id: `pay_${i}`, loan: `L-${i % loans}`, amount: 100 })
    await sql`
      insert into raw.lender_02_gateway_a (body)
       values (${Buffer.from(JSON.stringify(event))})`.execute(db)
  }
  const run = await batchOf(call)
  const ours = payments / run.post_seconds
  console.log(
    `posted ${run.posted} to a ledger that takes ${latencyMs} ms: ${ours.toFixed(0)}/s; bare loop ${bare.toFixed(0)}/s; ratio ${(ours / bare).toFixed(2)}`,
  )
  console.log(`peak memory ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB`)
  await service.close()
  await db.destroy()
} finally {
  sandbox.kill()
  await postgres.close()
}

async function batchOf(call: ReturnType<typeof caller>) {
  const { body } = await call('POST', '/api/payments/batch')
  for (;;) {
    const run = await call('GET', `/api/payments/batches/${body.batch_id}`)
    if (run.body.ended_at !== null) return run.body
    await sleep(ASK_EVERY_MS)
  }
}

/** The minimum for a repayment: a look at the loan, and the write. */
async function bareLoop(ledgerUrl: string): Promise<number> {
  const url = new URL(ledgerUrl)
  const pool = new Pool(url.origin, { connections: MAX_CONCURRENT })
  const headers = LEDGER_HEADERS
  let next = 0
  const start = performance.now()
  await Promise.all(
    Array.from({ length: MAX_CONCURRENT }, async () => {
      for (let i = next++; i < payments; i = next++) {
        const path = `${url.pathname}/loans/external-id/L-${i % loans}`
        const read = await pool.request({ method: 'GET', path, headers })
        await read.body.json()
        const written = await pool.request({
          method: 'POST',
          path: `${path}/transactions?command=repayment`,
          headers: { ...headers, 'idempotency-key': `bare-${i}` },
          body: JSON.stringify({
            transactionDate: '05 February 2026',
            transactionAmount: '1',
            externalId: `bare-${i}`,
            paymentTypeId: 1,
            receiptNumber: `bare-${i}`,
            dateFormat: 'dd MMMM yyyy',
            locale: 'en',
          }),
        })
        await written.body.json()
      }
    }),
  )
  const seconds = (performance.now() - start) / 1_000
  await pool.close()
  return payments / seconds
}
