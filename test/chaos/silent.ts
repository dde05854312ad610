import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { sql } from 'kysely'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate/migrate.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { dice } from '../../src/sandbox/faults/dice.ts'
import { startSandboxGateways } from '../../src/sandbox/gateways/gateway-server.ts'
import { allQueues } from '../../src/worker.ts'
import { control } from '../support/ledger/loans.ts'
import { openPath } from '../support/path.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { makePortfolio } from '../support/portfolio/portfolio.ts'
import { caller } from '../support/service.ts'
import { until } from '../support/until.ts'
import { runCallers } from './callers.ts'
import { type Cluster, over, startCluster, targetOf } from './cluster.ts'
import { drawEpisode, goThrough, type Outcome } from './episode.ts'
import { observe } from './observer.ts'
import { settled } from './settle.ts'
import { startSingleDatabase } from './single-database.ts'
import { verdictOn } from './verdict.ts'

const EPISODES = 6
const CALLERS = 3
/** More than are done by the end. */
const PORTFOLIO = { clients: 500, loans: 4_000, repayments: 0 }
/** The pause after an episode, before the next. */
const CALM_MS = 1_500

/** Every path fails in any way, in any combination. @returns whether every promise was held */
export async function runSilent(seed: number): Promise<boolean> {
  const folder = resolve('.data/chaos-postgres')
  rmSync(folder, { recursive: true, force: true })
  const database = await startSingleDatabase(folder, await freePort(0))
  await migrate(database.url, allQueues)
  const gateways = await startSandboxGateways({ port: 0 })
  const gateway = await openPath(targetOf(gateways.urlA))
  const cluster = await startCluster(database.url, {
    GATEWAY_A_API_URL: over(gateway, gateways.urlA),
    GATEWAY_A_API_KEY: gateways.key,
    GATEWAY_A_API_SECRET: gateways.secret,
    // The default: what hangs must not hold up what does not.
    LEDGER_TIMEOUT_MS: '30000',
  })
  await cluster.add('api')
  await cluster.add('worker')
  await control(cluster, 'PUT', '/faults', { seed, rules: [{ kind: 'latency', ms: [10, 50] }] })
  const db = openDatabase(database.url, { max: 4, name: 'judge', onError: () => undefined })
  await until(async () => cluster.places.every(({ isUp }) => isUp), 'all processes are up')

  const draw = dice(seed)
  const portfolio = await startPortfolio(cluster, seed)
  let isOver = false
  const calling = runCallers(
    cluster.places.filter(({ role }) => role === 'api'),
    { callers: CALLERS, draw: dice(seed + 1), isEnough: () => isOver },
  )
  const accepted: string[] = []
  const observer = observe(cluster.places, db, id => void accepted.push(id))
  await until(async () => observer.seen.ended.has('migration'), 'the portfolio is under way')
  const outcomes: Outcome[] = []
  const paths = { ...cluster.paths, gateway }
  for (let n = 0; n < EPISODES; n++) {
    outcomes.push(await goThrough(drawEpisode(draw), paths, observer.seen))
    console.log(JSON.stringify(outcomes.at(-1)))
    await new Promise(done => setTimeout(done, CALM_MS))
  }
  isOver = true
  const answered = await calling
  await observer.stop()
  await cancel(cluster, portfolio)
  answered.operations.push(...accepted)
  const settleMs = await settled(cluster, db)
  const { isHeld, report } = await verdictOn(cluster, db, answered)
  const sessions = await openSessions(db)
  await db.destroy()
  await cluster.close()
  gateway.close()
  await gateways.close()
  await database.close()
  const held = isHeld && outcomes.every(({ wrong }) => wrong.length === 0)
  console.log(
    JSON.stringify({ seed, ...report, sessions, settledAfterMs: settleMs, held }, null, 2),
  )
  return held
}

async function startPortfolio({ places }: Cluster, seed: number): Promise<string> {
  const url = places.find(({ role }) => role === 'api')?.url ?? ''
  // The callers have clients and loans of their own, whose terms are all the same.
  const { loansCsv } = makePortfolio(PORTFOLIO, seed, (prefix, n) => `portfolio-${prefix}-${n}`)
  const { migration_id } = (await uploadCsv({ url }, 'loans', loansCsv)).body
  const { status } = await caller(url)('POST', '/api/migration/run', { migration_id })
  if (status !== 202) throw new Error('the portfolio was not started')
  return migration_id
}

async function cancel({ places }: Cluster, portfolio: string): Promise<void> {
  const url = places.find(({ role }) => role === 'api')?.url ?? ''
  await until(
    async () =>
      (await caller(url)('POST', `/api/migration/${portfolio}/cancel`).catch(() => undefined))
        ?.status === 202,
    'the portfolio is cancelled',
  )
}

/** The number of open sessions, those that do not know yet that their client is gone included. */
async function openSessions(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from pg_stat_activity
     where application_name like 'loanops%'`.execute(db)
  return rows[0]?.count ?? 0
}
