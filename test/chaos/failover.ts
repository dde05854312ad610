import { resolve } from 'node:path'
import { openDatabase } from '../../src/database/database.ts'
import { dice } from '../../src/sandbox/faults/dice.ts'
import { control } from '../support/ledger/loans.ts'
import type { Path } from '../support/path.ts'
import { until } from '../support/until.ts'
import { runCallers } from './callers.ts'
import { startCluster, targetOf } from './cluster.ts'
import { observe, type Seen } from './observer.ts'
import { type Pair, startPair } from './primary-and-standby.ts'
import { settled } from './settle.ts'
import { verdictOn } from './verdict.ts'

const CALLERS = 12
const PAYS_AFTER_STORIES = 2
/** When the primary fails, how long nobody notices, and how long the service is watched after the switch. */
const FAILS_AFTER_MS: [number, number] = [2_000, 6_000]
const NOTICED_AFTER_MS: [number, number] = [0, 4_000]
const WATCHED_MS = 45_000
const LOAD_AFTERWARDS_MS = 4_000
/** The time from the switch to the first 202, and to the first operation that ends. */
const CONTINUES_WITHIN_MS = 15_000

/** The primary dies or falls silent under load, and the standby takes over. @returns whether every promise was held */
export async function runFailover(seed: number): Promise<boolean> {
  const draw = dice(seed)
  const between = ([least, most]: [number, number]) => least + draw() * (most - least)
  const pair = await startPair(resolve('.data/chaos-failover'))
  const cluster = await startCluster(pair.primary.url)
  for (const role of ['api', 'worker', 'worker'] as const) await cluster.add(role)
  const latency = { kind: 'latency', ms: [1, 40] }
  await control(cluster, 'PUT', '/faults', { seed, rules: [latency] })
  await until(async () => cluster.places.every(({ isUp }) => isUp), 'all processes are up')
  const db = openDatabase(pair.standby.url, { max: 4, name: 'judge', onError: () => undefined })

  let isOver = false
  const calling = runCallers(
    cluster.places.filter(({ role }) => role === 'api'),
    {
      callers: CALLERS,
      draw: dice(seed + 1),
      isEnough: () => isOver,
      paysAfterStories: PAYS_AFTER_STORIES,
    },
  )
  const accepted: string[] = []
  const observer = observe(cluster.places, db, id => void accepted.push(id))
  await elapsed(between(FAILS_AFTER_MS))
  const isSilent = draw() < 0.5
  if (isSilent) cluster.paths.database.inflict('silent', 'both')
  else pair.killPrimary()
  await elapsed(between(NOTICED_AFTER_MS))
  await switchOver(pair, cluster.paths.database)
  const switchedAt = Date.now()
  const goals = goalsOf(observer.seen, switchedAt)
  const isReached = () => goals.every(({ at }) => at() !== undefined)
  while (Date.now() < switchedAt + WATCHED_MS && !isReached()) await elapsed(50)
  await elapsed(LOAD_AFTERWARDS_MS)
  isOver = true
  const answered = await calling
  await observer.stop()
  answered.operations.push(...accepted)
  const settleMs = await settled(cluster, db)
  const { isHeld, report } = await verdictOn(cluster, db, answered)
  await db.destroy()
  await cluster.close()
  await pair.close()

  const afterMs = Object.fromEntries(
    goals.map(({ of, at }) => [of, (at() ?? Number.POSITIVE_INFINITY) - switchedAt]),
  )
  const held = isHeld && Object.values(afterMs).every(ms => ms <= CONTINUES_WITHIN_MS)
  console.log(
    JSON.stringify({
      seed,
      primary: isSilent ? 'silenced' : 'killed',
      ...afterMs,
      settledAfterMs: settleMs,
      ...report,
      held,
    }),
  )
  return held
}

async function switchOver(pair: Pair, path: Path): Promise<void> {
  await pair.promote()
  path.lead(targetOf(pair.standby.url))
  path.heal()
}

function goalsOf({ accepted, ended }: Seen, switchedAt: number) {
  const since = (times: number[]) => times.find(at => at > switchedAt)
  return [
    { of: 'firstAcceptedMs', at: () => since([...accepted.values()].flat()) },
    { of: 'firstEndedMs', at: () => since([...ended.values()].flat()) },
  ]
}

const elapsed = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
