// Reading payments back: rate against a bare undici loop that makes the same reads at the same concurrency, and what live
// operations notice. node test/bench/readback.ts [payments] [loans] [milliseconds that the ledger takes]

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { Pool } from 'undici'
import { readConfig } from '../../src/config/config.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { readbackRun, requestReadback } from '../support/books/readback.ts'
import { LEDGER_HEADERS } from '../support/ledger/ledger-driver.ts'
import { control } from '../support/ledger/loans.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { withLedger } from '../support/payments/payments.ts'
import { testEnv } from '../support/service.ts'
import { quantile } from './fire.ts'
import { oneRun } from './latency.ts'
import { median } from './median.ts'
import { startBenched } from './service-process.ts'

/** Seldom enough not to count as load. */
const ASK_EVERY_MS = 250
const payments = Number(process.argv[2] ?? 10_000)
const loans = Number(process.argv[3] ?? 5_000)
const latencyMs = Number(process.argv[4] ?? 25)
/** The read-back gets four of eight slots. */
const SLOTS = 8
const MAX_CONCURRENT = 4
const RUNS = 3
/** The live load lasts about as long as the run takes. */
const LIVE = { perSecond: 20, operations: 500 }

const sandbox = spawn(process.execPath, ['test/support/sandbox/sandbox-process.ts'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [line] = await once(createInterface({ input: sandbox.stdout }), 'line')
const ledger = JSON.parse(line) as { url: string; controlUrl: string }
const service = await startBenched('readback', ledger.url, { LEDGER_CONCURRENCY: String(SLOTS) })
const db = openDatabase(service.databaseUrl, { max: 4, name: 'bench', onError: console.error })
try {
  await post(db)
  await control({ ledger }, 'PUT', '/faults', [{ kind: 'latency', ms: latencyMs }])
  const ratios: number[] = []
  for (let run = 1; run <= RUNS; run++) {
    const bare = await bareLoop()
    const { rate, loans, payments } = await readback(db)
    ratios.push(rate / bare)
    console.log(
      `read back ${payments} payments of ${loans} loans at a ledger that takes ${latencyMs} ms: ` +
        `${rate.toFixed(0)} loans/s; bare loop ${bare.toFixed(0)}/s; ratio ${(rate / bare).toFixed(2)}`,
    )
  }
  console.log(`median ratio ${median(ratios).toFixed(2)}`)
  const without = await oneRun({ db }, service.url, 'without', LIVE)
  const beside = readback(db)
  const during = await oneRun({ db }, service.url, 'during', LIVE)
  const { rate } = await beside
  const p = (took: number[], part: number) => quantile(took, part)
  console.log(
    `live operations at ${LIVE.perSecond}/s: p50 ${p(without, 0.5)} ms, p95 ${p(without, 0.95)} ms without; ` +
      `p50 ${p(during, 0.5)} ms, p95 ${p(during, 0.95)} ms during, while it read ${rate.toFixed(0)} loans/s`,
  )
  console.log(`peak memory ${service.peakMiB()} MiB`)
} finally {
  await db.destroy()
  await service.close()
  sandbox.kill()
}

async function post(db: Database): Promise<void> {
  const config = readConfig(testEnv(service.databaseUrl, ledger.url))
  const { loan } = withLedger({ ...service, db, ledger, config })
  for (let i = 0; i < loans; i += MAX_CONCURRENT)
    await Promise.all(Array.from({ length: MAX_CONCURRENT }, (_, j) => loan(`L-${i + j}`)))
  await sql`select raw.make_store('LENDER_02', 'gateway_a')`.execute(db)
  for (let i = 0; i < payments; i++) {
    const event = capturedA({ id: `pay_${i}`, loan: `L-${i % loans}`, amount: 100 })
    await sql`
      insert into raw.lender_02_gateway_a (body)
       values (${Buffer.from(JSON.stringify(event))})`.execute(db)
  }
  await service.call('POST', '/api/payments/batch')
  for (let posted = 0; posted < payments; ) {
    await pause(ASK_EVERY_MS)
    const { rows } = await sql<{ posted: number }>`
      select count(*)::integer as posted from core.transaction where state = 'posted'`.execute(db)
    posted = rows[0]?.posted ?? 0
  }
}

async function readback(db: Database) {
  const id = await requestReadback(db)
  for (;;) {
    const run = await readbackRun(db, id)
    if (run.status === 'completed') return { ...run, rate: run.loans / (await secondsOf(db, id)) }
    await pause(ASK_EVERY_MS)
  }
}

async function secondsOf(db: Database, id: string): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from ended_at - started_at)::float8 as seconds from ops.readback_run
     where run_id = ${id}`.execute(db)
  return rows[0]?.seconds ?? Number.NaN
}

/** What reading a loan back costs at least. */
async function bareLoop(): Promise<number> {
  const url = new URL(ledger.url)
  const pool = new Pool(url.origin, { connections: MAX_CONCURRENT })
  const headers = LEDGER_HEADERS
  let next = 0
  const start = performance.now()
  await Promise.all(
    Array.from({ length: MAX_CONCURRENT }, async () => {
      for (let i = next++; i < loans; i = next++) {
        const path = `${url.pathname}/loans/external-id/L-${i}?associations=transactions`
        const read = await pool.request({ method: 'GET', path, headers })
        await read.body.json()
      }
    }),
  )
  const seconds = (performance.now() - start) / 1_000
  await pool.close()
  return loans / seconds
}
