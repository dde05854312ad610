import { backfillFeature } from '../../src/books/backfill/backfill-feature.ts'
import { readbackFeature } from '../../src/books/readback/readback-feature.ts'
import { callbacksFeature } from '../../src/callbacks/callbacks-feature.ts'
import { ENGINE_CRASH_POINTS } from '../../src/engine/engine-signals.ts'
import { PAYMENT_CRASH_POINTS, REVERSAL_CRASH_POINTS } from '../../src/payments/payment-signals.ts'
import type { Service } from '../support/process.ts'
import type { Cluster, Place, Role } from './cluster.ts'
import {
  between,
  changeLenders,
  confirmAtOnce,
  confirmLate,
  cutConnections,
  failPath,
  pauseLedger,
  restartPooler,
  restoreLenders,
  resumeLedger,
  storm,
} from './disrupt.ts'
import type { ChaosDatabase } from './single-database.ts'

/** The pause between two kills. */
const PAUSE_MS: [number, number] = [200, 900]
/** A process that has not reached its crash point by then may never reach it, and can be killed otherwise. */
const MEETS_ITS_POINT_MS = 4_000
/** The same for an approval, a batch or a read-back, which is rare, and ends only when the ledger has answered all its calls. */
const MEETS_A_BATCH_MS = 12_000
/** How often to check whether anything is running that is worth killing. */
const ASK_EVERY_MS = 50
export const POINTS: string[] = [
  ...ENGINE_CRASH_POINTS,
  ...PAYMENT_CRASH_POINTS,
  ...REVERSAL_CRASH_POINTS,
  ...readbackFeature.crashPoints,
  ...callbacksFeature.crashPoints,
  ...backfillFeature.crashPoints,
]
/** A point that is passed thousands of times a minute should not always be hit on the first pass. */
const MAX_PASSINGS = 8

type Disruptions = Record<
  | 'api killed'
  | 'worker killed'
  | 'postgres killed'
  | 'connections cut'
  | 'stopped'
  | 'armed'
  | 'paused'
  | 'pooler restarted'
  | 'path failed'
  | 'storms'
  | 'commits late'
  | 'lenders changed',
  number
>

type Means = { cluster: Cluster; database: ChaosDatabase; draw: () => number; seed: number }

/** What happens if the draw is below the number; otherwise a process is killed. */
const DISRUPTIONS: {
  below: number
  name: keyof Disruptions
  /** @returns false if it could not be done */
  run(means: Means): unknown
}[] = [
  { below: 0.08, name: 'postgres killed', run: ({ database }) => database.kill() },
  { below: 0.14, name: 'connections cut', run: ({ cluster }) => cutConnections(cluster) },
  { below: 0.18, name: 'pooler restarted', run: restartPooler },
  { below: 0.28, name: 'path failed', run: failPath },
  { below: 0.32, name: 'storms', run: means => storm(means, means.seed) },
  { below: 0.36, name: 'paused', run: pauseLedger },
  { below: 0.4, name: 'commits late', run: confirmLate },
  { below: 0.44, name: 'lenders changed', run: changeLenders },
]

/** Kills at random until it is stopped. @param points at which processes die */
export function wreakHavoc(
  cluster: Cluster,
  database: ChaosDatabase,
  draw: () => number,
  points = POINTS,
) {
  const disruptions: Disruptions = {
    'api killed': 0,
    'worker killed': 0,
    'postgres killed': 0,
    'connections cut': 0,
    stopped: 0,
    armed: 0,
    paused: 0,
    'pooler restarted': 0,
    'path failed': 0,
    storms: 0,
    'commits late': 0,
    'lenders changed': 0,
  }
  const doomed = new Map<Service, number>()
  let isOver = false
  let nextPoint = Math.floor(draw() * points.length)
  const done = run()
  return {
    disruptions,
    kills: () =>
      disruptions['api killed'] +
      disruptions['worker killed'] +
      disruptions['postgres killed'] +
      cluster.died.length,
    async stop() {
      isOver = true
      await done
      for (const path of Object.values(cluster.paths)) path.heal()
      await resumeLedger(cluster)
      await confirmAtOnce(cluster)
      await restoreLenders(cluster)
    },
  }

  async function run() {
    while (!isOver) {
      await new Promise(resolve => setTimeout(resolve, between(PAUSE_MS, draw())))
      await strike(draw())
    }
  }

  async function strike(chance: number): Promise<void> {
    const disruption = DISRUPTIONS.find(({ below }) => chance < below)
    if (disruption !== undefined) {
      const isDone = await disruption.run({ cluster, database, draw, seed: disruptions.storms + 1 })
      if (isDone !== false) disruptions[disruption.name]++
      return
    }
    const point = points[nextPoint++ % points.length] as string
    if (chance < 0.88) await arm(await pick(isAtTheDoor(point) ? 'api' : 'worker'), point)
    else await kill(await pick(draw() < 0.3 ? 'api' : 'worker'), 'SIGKILL')
  }

  /** Makes the place's next process die at the point. */
  async function arm(place: Place, point: string) {
    const isStop = point === 'stop.handing-back'
    // A run passes each of its points only once or twice, and approvals are few.
    const most = isStop || isOfRun(point) ? 1 : MAX_PASSINGS
    const passings = 1 + Math.floor(draw() * most)
    cluster.armed.set(place, `${point}:${passings}`)
    disruptions.armed++
    await kill(place, 'SIGKILL')
    await until(() => place.isUp || cluster.armed.size === 0)
    doomed.set(place.service, Date.now() + (isOfRun(point) ? MEETS_A_BATCH_MS : MEETS_ITS_POINT_MS))
    if (!isStop) return
    // Reached only by a stop that finds work waiting.
    await until(() => place.isUp)
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS[1]))
    await kill(place, 'SIGTERM')
  }

  async function kill(place: Place, signal: 'SIGKILL' | 'SIGTERM') {
    const kind = `${place.role} killed` as const
    disruptions[signal === 'SIGTERM' ? 'stopped' : kind]++
    await place.service.kill(signal)
  }

  function isDoomed({ service }: Place): boolean {
    return Date.now() < (doomed.get(service) ?? 0)
  }

  /** A place whose process is running and not already about to die. */
  async function pick(role: Role): Promise<Place> {
    const worthIt = () =>
      cluster.places.filter(place => place.role === role && place.isUp && !isDoomed(place))
    await until(() => isOver || worthIt().length > 0)
    const places = worthIt()
    return places[Math.floor(draw() * places.length)] ?? (cluster.places[0] as Place)
  }
}

const isOfRun = (point: string) => /^(batch|readback|backfill|approval)/.test(point)
const isAtTheDoor = (point: string) => /^(intake|webhook|approval)/.test(point)

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(resolve => setTimeout(resolve, ASK_EVERY_MS))
}
