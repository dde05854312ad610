// How long each page of the console takes with a long history, its size, and what twenty people who refresh cost the API.
// node test/bench/console.ts [--operations 10000000] [--payments 1000000] [--keep]: with --keep, the rows are there for the next run.
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '../../src/embedded/free-port.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { ADMIN } from '../support/accounts/admin.ts'
import { type Browse, loggedIn, type Seen } from '../support/console/console.ts'
import { startProcess } from '../support/process.ts'
import { testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'
import { fillHistory } from './console-history.ts'
import { compareLatency } from './console-load.ts'
import { consolePages } from './console-pages.ts'
import { measureSignals } from './console-signals.ts'
import { quantile } from './fire.ts'
import { openHistoryDatabase } from './history-database.ts'

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '10000000' },
    payments: { type: 'string', default: '1000000' },
    keep: { type: 'boolean', default: false },
  },
})
const ROUNDS = 40
/** Pages that are looked at every day are in memory. */
const WARM_UP = 2
/** What people share, they share for at most this long: in each round, every page is read again. */
const ROUND_MS = 2_100
const PROMISED_MS = 200

const history = await openHistoryDatabase()
const { db } = history
if (!history.isFilled) {
  const since = performance.now()
  await fillHistory(db, {
    operations: Number(values.operations),
    payments: Number(values.payments),
  })
  console.log(`filled in ${Math.round((performance.now() - since) / 1_000)} s`)
}
const ledger = await startSandbox({ port: 0 })
const service = await start('api')
try {
  const browse = await loggedIn(service.url, ADMIN)
  await measure(browse, await consolePages(db))
  const worker = await start('worker')
  await measureSignals(worker.url, db)
  await worker.process.kill('SIGTERM')
  await compareLatency(service.url, browse)
} finally {
  await service.process.kill('SIGTERM')
  await ledger.close()
  await history.close(values)
}

async function start(role: 'api' | 'worker') {
  const port = await freePort(0)
  const url = `http://127.0.0.1:${port}`
  const started = startProcess(
    role,
    testEnv(history.url, ledger.url, {
      PORT: String(port),
      DATABASE_POOL_MAX: '10',
      CONSOLE_ENABLED: 'true',
      ADMIN_USERNAME: ADMIN.username,
      ADMIN_PASSWORD: ADMIN.password,
    }),
  )
  await until(() => fetch(`${url}/healthz`).catch(() => undefined), `the ${role} is up`)
  return { url, process: started }
}

async function measure(browse: Browse, paths: string[]): Promise<void> {
  const took = new Map(paths.map(path => [path, [] as number[]]))
  const seen = new Map<string, Seen>()
  for (let n = -WARM_UP; n < ROUNDS; n++) {
    const roundEnds = performance.now() + ROUND_MS
    for (const path of paths) {
      const since = performance.now()
      seen.set(path, await browse(path))
      if (n >= 0) took.get(path)?.push(performance.now() - since)
    }
    await setTimeout(Math.max(roundEnds - performance.now(), 0))
  }
  for (const [path, times] of took) {
    times.sort((a, b) => a - b)
    const { status, text } = seen.get(path) as Seen
    const [min, p50, p95, max] = [0, 0.5, 0.95, 1].map(q => quantile(times, q))
    const verdict = Number(p95) > PROMISED_MS ? 'TOO SLOW' : ''
    console.log(
      `${path}: ${status} min ${min} p50 ${p50} p95 ${p95} max ${max} ms, ${Math.round(text.length / 1_000)} kB ${verdict}`,
    )
  }
}
