// node test/bench/migration-run.ts [LOANS] [REPAYMENTS]: a run's ledger calls per second against a bare undici loop that
// makes the same calls at the same concurrency, and the run's effect on live operations.
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Pool } from 'undici'
import { startSandbox } from '../../src/sandbox/server.ts'
import { LEDGER_HEADERS } from '../support/ledger/ledger-driver.ts'
import { asText, loansAsExpected } from '../support/portfolio/books.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { makePortfolio } from '../support/portfolio/portfolio.ts'
import { median } from './median.ts'
import { startBenched } from './service-process.ts'

const [loans = 300, repayments = 3_000] = process.argv.slice(2).map(Number)
const CONCURRENCY = 8
/** Half of the slots are for migrations. */
const BULK = CONCURRENCY / 2
/** The measured times of a real ledger for a write, and for reading a loan's transactions, at this concurrency. */
const WRITE_MS: [number, number] = [30, 50]
const READ_MS: [number, number] = [15, 25]
const LIVE_EVERY_MS = 100
const LIVE_OPERATIONS = 100
const RUNS = 3

const ledger = await startSandbox({ port: 0 })
await slow(true)
const service = await startBenched('run', ledger.url, {
  LEDGER_CONCURRENCY: String(CONCURRENCY),
  LEDGER_TIMEOUT_MS: '30000',
})
const size = { clients: Math.ceil(loans / 7), loans, repayments }
const portfolio = makePortfolio(size, 5, (prefix, number) => `${prefix}-5-${number}`)
let isRunning = false

try {
  const without: number[] = []
  for (let run = 0; run < RUNS; run++) without.push(await liveP95(`before-${run}`))
  const loansRun = await timedRun('loans', portfolio.loansCsv)
  isRunning = true
  const during: number[] = []
  const live = (async () => {
    for (let run = 0; run < RUNS && isRunning; run++) during.push(await liveP95(`during-${run}`))
  })()
  const repaymentsRun = await timedRun('repayments', portfolio.repaymentsCsv)
  isRunning = false
  await live
  await slow(false)
  const found = await loansAsExpected(ledger, portfolio.expected)
  const isRight = isDeepStrictEqual(found, asText(portfolio.expected))
  await slow(true)
  const bare = await bareLoop(repayments)
  console.log(
    JSON.stringify({
      loans,
      repayments,
      books_as_computed: isRight,
      loans_seconds: loansRun.seconds,
      repayments_seconds: repaymentsRun.seconds,
      run_calls_per_second: Math.round(repayments / repaymentsRun.seconds),
      bare_calls_per_second: Math.round(bare),
      ratio: Number((repayments / repaymentsRun.seconds / bare).toFixed(2)),
      live_p95_ms_without: Math.round(median(without)),
      live_p95_ms_during: Math.round(median(during)),
      live_runs_during: during.length,
      peak_mib: service.peakMiB(),
    }),
  )
} finally {
  await service.close()
  await ledger.close()
}

async function timedRun(type: string, csv: string) {
  const { body } = await uploadCsv(service, type, csv)
  const { migration_id } = body
  const start = performance.now()
  await service.call('POST', '/api/migration/run', { migration_id })
  for (;;) {
    const { body: now } = await service.call('GET', `/api/migration/${migration_id}`)
    if (now.status !== 'running') {
      if (now.done !== now.rows) throw new Error(JSON.stringify(now))
      return { seconds: Number(((performance.now() - start) / 1_000).toFixed(1)) }
    }
    await pause(200)
  }
}

/** A ledger that answers as slowly as a real one. */
async function slow(isSlow: boolean) {
  const rules = [
    { kind: 'latency', ms: WRITE_MS, match: { on: 'writes' } },
    { kind: 'latency', ms: READ_MS, match: { on: 'reads' } },
  ]
  await fetch(`${ledger.controlUrl}/faults`, {
    method: 'PUT',
    body: JSON.stringify(isSlow ? rules : []),
  })
}

/** Submit to final for clients created one after the other, as an LOS sees it. */
async function liveP95(name: string): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < LIVE_OPERATIONS; i++) {
    const start = performance.now()
    const { body } = await service.call('POST', '/api/ledger/operate', {
      status: 'CLIENT_CREATE',
      data: {
        externalId: `live-${name}-${i}`,
        firstname: 'Asha',
        lastname: 'Rao',
        activationDate: '05 January 2024',
      },
    })
    const tracked = encodeURIComponent(body.tracking_id)
    const record = await service.call('GET', `/api/ledger/track/${tracked}?wait=20`)
    if (record.body.status !== 'success') throw new Error(JSON.stringify(record.body))
    times.push(performance.now() - start)
    await pause(LIVE_EVERY_MS)
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] as number
}

/** Repayments like the run's, as fast as the ledger accepts them. */
async function bareLoop(count: number): Promise<number> {
  const url = new URL(ledger.url)
  const pool = new Pool(url.origin, { connections: BULK, pipelining: 1 })
  const active = portfolio.expected.filter(({ status }) => status >= 300)
  let next = 0
  const start = performance.now()
  await Promise.all(Array.from({ length: BULK }, worker))
  const seconds = (performance.now() - start) / 1_000
  await pool.close()
  return count / seconds

  async function worker(_: unknown, of: number) {
    // Each on different loans: two concurrent writes to one loan cost the ledger a second.
    const mine = active.filter((_, i) => i % BULK === of)
    for (let i = 0; next < count; i++) {
      const n = next++
      const loan = mine[i % mine.length] as { externalId: string }
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: `${url.pathname}/loans/external-id/${loan.externalId}/transactions?command=repayment`,
        headers: { ...LEDGER_HEADERS, 'idempotency-key': `bare-${n}` },
        body: JSON.stringify({
          transactionDate: '12 November 2026',
          transactionAmount: '0.01',
          externalId: `bare-${n}`,
          dateFormat: 'dd MMMM yyyy',
          locale: 'en',
        }),
      })
      await body.text()
      if (statusCode !== 200) throw new Error(`the ledger answered ${statusCode}`)
    }
  }
}
