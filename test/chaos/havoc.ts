import pg from 'pg'
import {
  CALLBACK_CRASH_POINTS,
  CRASH_POINTS,
  type CrashPoint,
  PAYMENT_CRASH_POINTS,
} from '../../src/crash-point.ts'
import type { Service } from '../support/process.ts'
import type { Cluster, Place, Role } from './cluster.ts'

/** Between two blows. */
const PAUSE_MS: [number, number] = [200, 900]
/** A process that has not met its crash point by then may never do, and is fair game again. */
const MEETS_ITS_POINT_MS = 4_000
/** A batch comes by seldom, and its end only when the ledger has answered all of it. */
const MEETS_A_BATCH_MS = 12_000
/** Whether anything is up that is worth a blow. */
const ASK_EVERY_MS = 50
const POINTS: CrashPoint[] = [...CRASH_POINTS, ...PAYMENT_CRASH_POINTS, ...CALLBACK_CRASH_POINTS]
/** A point that is passed thousands of times a minute is not always to be hit at the first. */
const MAX_PASSINGS = 8

export type Blows = Record<
  'api killed' | 'worker killed' | 'postgres killed' | 'connections cut' | 'stopped' | 'armed',
  number
>

/** Kills at random, until it is told to stop. */
export function wreakHavoc(cluster: Cluster, draw: () => number) {
  const blows: Blows = {
    'api killed': 0,
    'worker killed': 0,
    'postgres killed': 0,
    'connections cut': 0,
    stopped: 0,
    armed: 0,
  }
  const doomed = new Map<Service, number>()
  let isOver = false
  let nextPoint = Math.floor(draw() * POINTS.length)
  const done = run()
  return {
    blows,
    kills: () =>
      blows['api killed'] + blows['worker killed'] + blows['postgres killed'] + cluster.died.length,
    async stop() {
      isOver = true
      await done
    },
  }

  async function run() {
    while (!isOver) {
      const [least, most] = PAUSE_MS
      await new Promise(resolve => setTimeout(resolve, least + draw() * (most - least)))
      await strike(draw())
    }
  }

  async function strike(chance: number): Promise<void> {
    if (chance < 0.1) return killPostgres()
    if (chance < 0.2) return cutConnections()
    const point = POINTS[nextPoint++ % POINTS.length] as CrashPoint
    if (chance < 0.85) await arm(await pick(isAtTheDoor(point) ? 'api' : 'worker'), point)
    else await kill(await pick(draw() < 0.3 ? 'api' : 'worker'), 'SIGKILL')
  }

  /** The place's next process dies at the point, wherever that meets it. */
  async function arm(place: Place, point: CrashPoint) {
    const isStop = point === 'stop.handing-back'
    // A batch passes each of its points once or twice.
    const most = isStop || isOfBatch(point) ? 1 : MAX_PASSINGS
    const passings = 1 + Math.floor(draw() * most)
    cluster.armed.set(place, `${point}:${passings}`)
    blows.armed++
    await kill(place, 'SIGKILL')
    await until(() => place.isUp || cluster.armed.size === 0)
    doomed.set(
      place.service,
      Date.now() + (isOfBatch(point) ? MEETS_A_BATCH_MS : MEETS_ITS_POINT_MS),
    )
    if (!isStop) return
    // It is met only by a stop that finds work waiting.
    await until(() => place.isUp)
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS[1]))
    await kill(place, 'SIGTERM')
  }

  async function kill(place: Place, signal: 'SIGKILL' | 'SIGTERM') {
    const blow = `${place.role} killed` as const
    blows[signal === 'SIGTERM' ? 'stopped' : blow]++
    await place.service.kill(signal)
  }

  async function killPostgres() {
    blows['postgres killed']++
    await cluster.killPostgres()
  }

  async function cutConnections() {
    blows['connections cut']++
    const client = new pg.Client(cluster.databaseUrl)
    client.on('error', () => undefined)
    await client
      .connect()
      .then(() =>
        client.query(`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name like 'loanops%' and pid <> pg_backend_pid()`),
      )
      .catch(() => undefined)
    await client.end().catch(() => undefined)
  }

  function isDoomed({ service }: Place): boolean {
    return Date.now() < (doomed.get(service) ?? 0)
  }

  /** One that is up, and not on its way to an end already. */
  async function pick(role: Role): Promise<Place> {
    const worthIt = () =>
      cluster.places.filter(place => place.role === role && place.isUp && !isDoomed(place))
    await until(() => isOver || worthIt().length > 0)
    const places = worthIt()
    return places[Math.floor(draw() * places.length)] ?? (cluster.places[0] as Place)
  }
}

const isOfBatch = (point: CrashPoint) => point.startsWith('batch')
const isAtTheDoor = (point: CrashPoint) => /^(intake|webhook)/.test(point)

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(resolve => setTimeout(resolve, ASK_EVERY_MS))
}
