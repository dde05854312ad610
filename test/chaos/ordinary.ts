import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { dice } from '../../src/sandbox/faults/dice.ts'
import { allQueues } from '../../src/worker.ts'
import { control } from '../support/loans.ts'
import { shiftedBy } from '../support/process.ts'
import { readBack } from '../support/readback.ts'
import { runCallers } from './callers.ts'
import { cancelRows } from './cancelled-rows.ts'
import { startCluster } from './cluster.ts'
import { booksOf, fetchFromBoth, startCollecting, watchBooks } from './collecting.ts'
import { changeLenders, LENDERS } from './disrupt.ts'
import { FAULTS } from './faults.ts'
import { wreakHavoc } from './havoc.ts'
import { actAsOperators } from './operators.ts'
import { startReceiver } from './receiver.ts'
import { settled } from './settle.ts'
import { startSingleDatabase } from './single-database.ts'
import { verdictOn } from './verdict.ts'

const CALLERS = 12
const DECIDED_FOR_MS = 15_000
/** The clocks of the two workers: one past every deadline, one before the day began. */
const AHEAD_MS = 25 * 3_600_000
const BEHIND_MS = -3_600_000

/** Everything fails at random. @returns whether every promise was held */
export async function runOrdinary(
  seed: number,
  least: { operations: number; kills: number },
): Promise<boolean> {
  const folder = resolve('.data/chaos-postgres')
  rmSync(folder, { recursive: true, force: true })
  const database = await startSingleDatabase(folder, await freePort(0))
  const receiver = await startReceiver(dice(seed + 2))
  await migrate(database.url, allQueues)
  const collecting = await startCollecting(dice(seed + 5))
  changeLenders({ draw: () => 1 })
  const settings = { ...receiver.settings, ...collecting.settings, ...LENDERS }
  const cluster = await startCluster(database.url, settings)
  await cluster.add('api')
  await cluster.add('api')
  await cluster.add('worker', shiftedBy(AHEAD_MS))
  await cluster.add('worker', shiftedBy(BEHIND_MS))
  await control(cluster, 'PUT', '/faults', { seed, rules: FAULTS })

  const startedAt = Date.now()
  await collecting.misbehave()
  const watch = watchBooks(cluster, dice(seed + 6))
  const connect = () =>
    openDatabase(database.url, { max: 2, name: 'judge', onError: () => undefined })
  const cancelling = cancelRows(cluster, connect, dice(seed + 7))
  const havoc = wreakHavoc(cluster, database, dice(seed + 1))
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
  const db = connect()
  await control(cluster, 'PUT', '/faults', [])
  await collecting.behave()
  await settled(cluster, db)
  const portfolio = await cancelling.judge()
  await fetchFromBoth(cluster)
  const settledMs = await settled(cluster, db)
  const later = await decideUnderFire()
  receiver.behave()
  const settledAgainMs = await settled(cluster, db)
  await watch.stop()
  await readBack(db)
  await settled(cluster, db)
  const books = await booksOf(cluster)
  const { isHeld, faults, overlaps, report } = await verdictOn(cluster, db, answered)
  const { reported, deliveredTwice, ...wrongCallbacks } = await receiver.judge(db)
  await db.destroy()
  await cluster.close()
  await database.close()
  receiver.close()
  await collecting.close()

  const { whole, partly } = report.payments.reversals
  const held =
    isHeld &&
    whole > 0 &&
    partly > 0 &&
    Object.values(wrongCallbacks).every(count => count === 0) &&
    [...watch.seen.unsound, ...books.unsound].length === 0 &&
    books.missing === 0 &&
    portfolio.wrong.length === 0
  const perPoint = Object.groupBy(cluster.died, point => point)
  const outcome = {
    seed,
    ...report,
    callbacks: { reported, deliveredTwice, ...wrongCallbacks },
    portfolio,
    webhooks: collecting.webhooks,
    books: { ...books, watched: watch.seen },
    kills: havoc.kills(),
    disruptions: [havoc.disruptions, later.disruptions],
    operators: later.acts,
    crashPoints: Object.fromEntries(
      Object.entries(perPoint).map(([point, deaths]) => [point, deaths?.length]),
    ),
    ledgerFaults: faults,
    overlaps,
    underFireSeconds: Math.round(firedMs / 1_000),
    settledAfterSeconds: [settledMs, settledAgainMs].map(ms => Math.round(ms / 1_000)),
    held,
  }
  console.log(JSON.stringify(outcome, null, 2))
  return held

  /**
   * Now that payments are posted: everything fails again, while money goes back, and people decide, undo and
   * have batches run.
   */
  async function decideUnderFire() {
    await control(cluster, 'PUT', '/faults', { seed, rules: FAULTS })
    await collecting.misbehave()
    const havoc = wreakHavoc(cluster, database, dice(seed + 4))
    const operators = actAsOperators(cluster, connect, dice(seed + 3))
    await Promise.all([
      new Promise(resolve => setTimeout(resolve, DECIDED_FOR_MS)),
      answered.refundTheRest(),
    ])
    await operators.stop()
    await havoc.stop()
    await control(cluster, 'PUT', '/faults', [])
    await collecting.behave()
    return { acts: operators.acts, disruptions: havoc.disruptions }
  }
}
