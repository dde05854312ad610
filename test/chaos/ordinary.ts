import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate/migrate.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { dice } from '../../src/sandbox/faults/dice.ts'
import { allQueues } from '../../src/worker.ts'
import { readBack } from '../support/books/readback.ts'
import { control } from '../support/ledger/loans.ts'
import { shiftedBy } from '../support/process.ts'
import { runCallers } from './callers.ts'
import { cancelRows } from './cancelled-rows.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { booksOf, fetchFromBoth, startCollecting, watchBooks } from './collecting.ts'
import { changeLenders, LENDERS } from './disrupt.ts'
import { FAULTS } from './faults.ts'
import { wreakHavoc } from './havoc.ts'
import { actAsOperators } from './operators.ts'
import type { Deciders } from './people.ts'
import { startReceiver } from './receiver.ts'
import { judgeReturns } from './returns-model.ts'
import { settled } from './settle.ts'
import { startSingleDatabase } from './single-database.ts'
import { verdictOn } from './verdict.ts'

const CALLERS = 12
/** The clocks of the two workers: one past every deadline, one before the day began. */
const AHEAD_MS = 25 * 3_600_000
const BEHIND_MS = -3_600_000

/** Everything fails at random. @returns whether every promise was held */
export async function runOrdinary(
  seed: number,
  least: { operations: number; kills: number },
  deciders: Deciders,
): Promise<boolean> {
  const folder = resolve('.data/chaos-postgres')
  rmSync(folder, { recursive: true, force: true })
  const database = await startSingleDatabase(folder, await freePort(0))
  const receiver = await startReceiver(dice(seed + 2))
  await migrate(database.url, allQueues)
  const collecting = await startCollecting(dice(seed + 5))
  changeLenders({ draw: () => 1 })
  const settings = {
    ...receiver.settings,
    ...collecting.settings,
    ...LENDERS,
    ...deciders.settings,
  }
  const cluster = await startCluster(database.url, settings)
  await addPlaces(cluster)
  await control(cluster, 'PUT', '/faults', { seed, rules: FAULTS })

  const startedAt = Date.now()
  await collecting.misbehave()
  const watch = watchBooks(cluster, dice(seed + 6))
  const connect = () =>
    openDatabase(database.url, { max: 2, name: 'judge', onError: () => undefined })
  const db = connect()
  const { decide, judge } = await deciders.gather(cluster, db, dice(seed + 8))
  const cancelling = cancelRows(cluster, connect, dice(seed + 7), decide)
  const havoc = wreakHavoc(cluster, database, dice(seed + 1), deciders.points)
  const answered = await runCallers(
    cluster.places.filter(({ role }) => role === 'api'),
    {
      callers: CALLERS,
      draw: dice(seed),
      collecting,
      isEnough: sent => sent >= least.operations && havoc.kills() >= least.kills,
    },
  )
  await havoc.stop()
  const firedMs = Date.now() - startedAt
  await control(cluster, 'PUT', '/faults', [])
  await collecting.behave()
  await settled(cluster, db)
  const portfolio = await cancelling.judge()
  await fetchFromBoth(cluster)
  const settledMs = await settled(cluster, db)
  const later = await decideUnderFire()
  receiver.behave()
  await fetchFromBoth(cluster)
  const settledAgainMs = await settled(cluster, db)
  await watch.stop()
  await readBack(db)
  await settled(cluster, db)
  const books = await booksOf(cluster)
  const { isHeld, faults, overlaps, report } = await verdictOn(cluster, db, answered)
  const returns = await judgeReturns(db, answered.payments)
  const { reported, deliveredTwice, ...wrongCallbacks } = await receiver.judge(db)
  const approvals = await judge()
  await db.destroy()
  for (const one of [cluster, database, receiver, collecting]) await one.close()

  const outcome = {
    seed,
    ...report,
    returns,
    callbacks: { reported, deliveredTwice, wrong: wrongCallbacks },
    portfolio,
    webhooks: collecting.webhooks,
    books: { ...books, watched: watch.seen },
    kills: havoc.kills(),
    disruptions: [havoc.disruptions, later.disruptions],
    operators: later.acts,
    approvals,
    crashPoints: counted(cluster.died),
    ledgerFaults: faults,
    overlaps,
    underFireSeconds: Math.round(firedMs / 1_000),
    settledAfterSeconds: [settledMs, settledAgainMs].map(ms => Math.round(ms / 1_000)),
  }
  const broken = brokenIn(outcome, isHeld)
  const held = broken.length === 0
  console.log(JSON.stringify({ ...outcome, broken, held }, null, 2))
  return held

  /**
   * Now that payments are posted: everything fails again, while money goes back, and people decide, undo and
   * have batches run.
   */
  async function decideUnderFire() {
    await control(cluster, 'PUT', '/faults', { seed, rules: FAULTS })
    await collecting.misbehave()
    const havoc = wreakHavoc(cluster, database, dice(seed + 4), deciders.points)
    const operators = actAsOperators(cluster, connect, dice(seed + 3), decide)
    await Promise.all([
      new Promise(resolve => setTimeout(resolve, deciders.decideForMs)),
      answered.returnTheRest(),
    ])
    await operators.stop()
    await havoc.stop()
    await control(cluster, 'PUT', '/faults', [])
    await collecting.behave()
    return { acts: operators.acts, disruptions: havoc.disruptions }
  }
}

type Wrong = { wrong: Record<string, number> }
type Days = { unsound: unknown[] }

/** The promises that were not held, by the name of their part of the outcome. */
function brokenIn(
  outcome: {
    payments: { reversals: { whole: number; partly: number } }
    returns: Wrong
    callbacks: Wrong
    approvals: { isHeld: boolean }
    books: Days & { missing: number; watched: Days }
    portfolio: { wrong: unknown[] }
  },
  isVerdictHeld: boolean,
): string[] {
  const { returns, callbacks, approvals, books, portfolio } = outcome
  const { whole, partly } = outcome.payments.reversals
  const isNothing = ({ wrong }: Wrong) => Object.values(wrong).every(count => count === 0)
  const holds = {
    operationsAndPayments: isVerdictHeld,
    bothKindsOfReversals: Math.min(whole, partly) > 0,
    returns: isNothing(returns),
    callbacks: isNothing(callbacks),
    approvals: approvals.isHeld,
    watchedBooks: books.watched.unsound.length === 0,
    books: books.unsound.length === 0 && books.missing === 0,
    portfolio: portfolio.wrong.length === 0,
  }
  return Object.entries(holds).flatMap(([name, isKept]) => (isKept ? [] : [name]))
}

/** How often each of them is there. */
function counted(names: string[]): Record<string, number> {
  const groups = Map.groupBy(names, name => name)
  return Object.fromEntries([...groups].map(([name, of]) => [name, of.length]))
}

async function addPlaces(cluster: Cluster): Promise<void> {
  await cluster.add('api')
  await cluster.add('api')
  await cluster.add('worker', shiftedBy(AHEAD_MS))
  await cluster.add('worker', shiftedBy(BEHIND_MS))
}
