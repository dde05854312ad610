import pg from 'pg'
import { BACKFILL_CRASH_POINTS } from '../../src/books/backfill/crash-points.ts'
import { READBACK_CRASH_POINTS } from '../../src/books/crash-points.ts'
import { CALLBACK_CRASH_POINTS } from '../../src/callbacks/crash-points.ts'
import { ENGINE_CRASH_POINTS } from '../../src/engine/crash-points.ts'
import { PAYMENT_CRASH_POINTS } from '../../src/payments/crash-points.ts'
import { control as controlLedger } from '../support/loans.ts'
import { SCOPES, type Scope, TROUBLES, type Trouble } from '../support/path.ts'
import type { Service } from '../support/process.ts'
import { caller } from '../support/service.ts'
import type { Cluster, Place, Role } from './cluster.ts'
import { FAULTS } from './faults.ts'
import type { ChaosDatabase } from './single-database.ts'

/** Between two kills. */
const PAUSE_MS: [number, number] = [200, 900]
/** How long the ledger is paused. */
const PAUSED_MS: [number, number] = [1_000, 6_000]
/** How long a pooler restarts, a path fails, and a storm of errors blows. */
const RESTARTS_MS: [number, number] = [300, 2_000]
const FAILS_MS: [number, number] = [500, 5_000]
const STORM_MS: [number, number] = [1_000, 4_000]
/** A process that has not reached its crash point by then may never reach it, and can be killed otherwise. */
const MEETS_ITS_POINT_MS = 4_000
/** The same for a batch or a read-back, which is rare, and ends only when the ledger has answered all its calls. */
const MEETS_A_BATCH_MS = 12_000
/** How often to check whether anything is running that is worth killing. */
const ASK_EVERY_MS = 50
const POINTS: string[] = [
  ...ENGINE_CRASH_POINTS,
  ...PAYMENT_CRASH_POINTS,
  ...READBACK_CRASH_POINTS,
  ...CALLBACK_CRASH_POINTS,
  ...BACKFILL_CRASH_POINTS,
]
/** A point that is passed thousands of times a minute should not always be hit on the first pass. */
const MAX_PASSINGS = 8

export type Disruptions = Record<
  | 'api killed'
  | 'worker killed'
  | 'postgres killed'
  | 'connections cut'
  | 'stopped'
  | 'armed'
  | 'paused'
  | 'pooler restarted'
  | 'path failed'
  | 'storms',
  number
>

/** Kills at random until it is stopped. */
export function wreakHavoc(cluster: Cluster, database: ChaosDatabase, draw: () => number) {
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
  }
  const doomed = new Map<Service, number>()
  let isOver = false
  let nextPoint = Math.floor(draw() * POINTS.length)
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
      await control('resume')
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
    if (chance < 0.08) return killPostgres()
    if (chance < 0.14) return cutConnections()
    if (chance < 0.18) return restartPooler()
    if (chance < 0.28) return failPath()
    if (chance < 0.32) return storm()
    if (chance < 0.36) return pauseLedger()
    const point = POINTS[nextPoint++ % POINTS.length] as string
    if (chance < 0.88) await arm(await pick(isAtTheDoor(point) ? 'api' : 'worker'), point)
    else await kill(await pick(draw() < 0.3 ? 'api' : 'worker'), 'SIGKILL')
  }

  /** Makes the place's next process die at the point. */
  async function arm(place: Place, point: string) {
    const isStop = point === 'stop.handing-back'
    // A run passes each of its points only once or twice.
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

  async function killPostgres() {
    disruptions['postgres killed']++
    await database.kill()
  }

  async function cutConnections() {
    disruptions['connections cut']++
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

  /** Closes every connection and all new ones for a while, as a pooler that restarts does. */
  function restartPooler() {
    disruptions['pooler restarted']++
    failFor('database', 'reset', 'both', RESTARTS_MS)
  }

  /** In any way, for a while, which goes on while others are killed. */
  function failPath() {
    disruptions['path failed']++
    const name = draw() < 0.5 ? 'database' : 'ledger'
    const trouble = TROUBLES[Math.floor(draw() * TROUBLES.length)] as Trouble
    const scope = SCOPES[Math.floor(draw() * SCOPES.length)] as Scope
    failFor(name, trouble, scope, FAILS_MS)
  }

  function failFor(
    name: keyof Cluster['paths'],
    trouble: Trouble,
    scope: Scope,
    [least, most]: [number, number],
  ) {
    const path = cluster.paths[name]
    path.inflict(trouble, scope)
    setTimeout(() => path.heal(), least + draw() * (most - least))
  }

  /** The ledger answers most calls with a 500 for a while, before or after it applies them. */
  async function storm() {
    disruptions.storms++
    const failing = { kind: 'error', status: 500, rate: 0.4 } as const
    const rules = [...FAULTS, failing, { ...failing, when: 'after' } as const]
    await controlLedger(cluster, 'PUT', '/faults', { seed: disruptions.storms, rules })
    await new Promise(resolve =>
      setTimeout(resolve, STORM_MS[0] + draw() * (STORM_MS[1] - STORM_MS[0])),
    )
    await controlLedger(cluster, 'PUT', '/faults', { seed: disruptions.storms, rules: FAULTS })
  }

  /** For a while, which goes on while others are killed; the pause ends even if nobody resumes. */
  async function pauseLedger() {
    const lastsMs = PAUSED_MS[0] + draw() * (PAUSED_MS[1] - PAUSED_MS[0])
    const until = new Date(Date.now() + lastsMs).toISOString()
    if (await control('pause', { reason: 'chaos', until })) disruptions.paused++
    // Half of the pauses are resumed before their end.
    const resumesMs = lastsMs * 2 * draw()
    if (resumesMs < lastsMs) setTimeout(() => void control('resume'), resumesMs)
  }

  /** @returns whether one of the api processes has done it */
  async function control(call: 'pause' | 'resume', body?: object): Promise<boolean> {
    for (const { role, url } of cluster.places) {
      if (role !== 'api') continue
      const answer = await caller(url)('POST', `/api/ledger/${call}`, body).catch(() => undefined)
      if (answer?.status === 200) return true
    }
    return false
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

const isOfRun = (point: string) => /^(batch|readback|backfill)/.test(point)
const isAtTheDoor = (point: string) => /^(intake|webhook)/.test(point)

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(resolve => setTimeout(resolve, ASK_EVERY_MS))
}
