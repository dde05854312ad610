import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import pg from 'pg'
import { control as controlLedger } from '../support/ledger/loans.ts'
import { SCOPES, type Scope, TROUBLES, type Trouble } from '../support/path.ts'
import { caller } from '../support/service.ts'
import type { Cluster } from './cluster.ts'
import { FAULTS } from './faults.ts'
import { lenderOf, NUMBER_OF_STORIES } from './stories.ts'

/** How long the ledger is paused. */
const PAUSED_MS: Range = [1_000, 6_000]
/** How long a pooler restarts, a path fails, and a storm of errors blows. */
const RESTARTS_MS: Range = [300, 2_000]
const FAILS_MS: Range = [500, 5_000]
const LATE_MS: Range = [500, 3_000]
const STORM_MS: Range = [1_000, 4_000]

type Range = [least: number, most: number]
type Drawn = { cluster: Cluster; draw: () => number }

export async function cutConnections(cluster: Cluster): Promise<void> {
  await query(
    cluster,
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name like 'loanops%' and pid <> pg_backend_pid()`,
  )
}

/** @returns whether the database, which may be down, has done it all */
async function query({ databaseUrl }: Cluster, ...statements: string[]): Promise<boolean> {
  const client = new pg.Client(databaseUrl)
  client.on('error', () => undefined)
  const done = client.connect().then(async () => {
    for (const statement of statements) await client.query(statement)
    return true
  })
  const isDone = await done.catch(() => false)
  await client.end().catch(() => undefined)
  return isDone
}

/** Each commit is confirmed late for a while, with its locks held, as by a standby far away. */
export async function confirmLate({ cluster, draw }: Drawn): Promise<boolean> {
  setTimeout(() => void confirmAtOnce(cluster), between(LATE_MS, draw()))
  return query(
    cluster,
    'alter system set commit_delay = 100000',
    'alter system set commit_siblings = 0',
    'select pg_reload_conf()',
  )
}

export function confirmAtOnce(cluster: Cluster): Promise<boolean> {
  return query(cluster, 'alter system reset commit_delay', 'select pg_reload_conf()')
}

const LENDERS_FILE = resolve('.data/chaos-lenders.json')
/** The secret that signs some events. */
export const SECRET = 'secret-of-the-gateways'
export const LENDERS = { LENDERS_FILE, CHAOS_SECRET: SECRET }

/**
 * For each process that starts from now on, payments are posted at once, or only after review. Refunds are always booked by
 * themselves, once they are proved.
 */
export function changeLenders({ draw }: Pick<Drawn, 'draw'>): void {
  const posting = draw() < 0.5 ? 'review' : 'automatic'
  const proved = { validateSignature: false, secretEnv: 'CHAOS_SECRET', reversals: 'automatic' }
  const gateways = { gateway_a: { posting, ...proved }, gateway_b: { posting, ...proved } }
  const lenders = new Set(Array.from({ length: NUMBER_OF_STORIES }, (_, i) => lenderOf(i)))
  writeFileSync(
    LENDERS_FILE,
    JSON.stringify(Object.fromEntries([...lenders].map(code => [code, gateways]))),
  )
}

/** All processes post at once again. */
export async function restoreLenders({ places }: Cluster): Promise<void> {
  changeLenders({ draw: () => 1 })
  const workers = places.filter(({ role }) => role === 'worker')
  await Promise.all(workers.map(({ service }) => service.kill('SIGTERM')))
}

/** Closes every connection and all new ones for a while, as a pooler that restarts does. */
export function restartPooler(drawn: Drawn): void {
  failFor(drawn, 'database', ['reset', 'both'], RESTARTS_MS)
}

/** Fails a path in any way, for a while, which goes on while processes are killed. */
export function failPath(drawn: Drawn): void {
  const { draw } = drawn
  const name = draw() < 0.5 ? 'database' : 'ledger'
  const trouble = TROUBLES[Math.floor(draw() * TROUBLES.length)] as Trouble
  const scope = SCOPES[Math.floor(draw() * SCOPES.length)] as Scope
  failFor(drawn, name, [trouble, scope], FAILS_MS)
}

function failFor(
  { cluster, draw }: Drawn,
  name: keyof Cluster['paths'],
  how: [Trouble, Scope],
  range: Range,
) {
  const path = cluster.paths[name]
  path.inflict(...how)
  setTimeout(() => path.heal(), between(range, draw()))
}

/** The ledger answers most calls with a 500 for a while, before or after it applies them. */
export async function storm({ cluster, draw }: Drawn, seed: number): Promise<void> {
  const failing = { kind: 'error', status: 500, rate: 0.4 } as const
  const rules = [...FAULTS, failing, { ...failing, when: 'after' } as const]
  await controlLedger(cluster, 'PUT', '/faults', { seed, rules })
  await new Promise(resolve => setTimeout(resolve, between(STORM_MS, draw())))
  await controlLedger(cluster, 'PUT', '/faults', { seed, rules: FAULTS })
}

/**
 * For a while, which goes on while others are killed; the pause ends even if nobody resumes.
 * @returns whether it is paused
 */
export async function pauseLedger({ cluster, draw }: Drawn): Promise<boolean> {
  const lastsMs = between(PAUSED_MS, draw())
  const until = new Date(Date.now() + lastsMs).toISOString()
  const isPaused = await control(cluster, 'pause', { reason: 'chaos', until })
  // Half of the pauses are resumed before their end.
  const resumesMs = lastsMs * 2 * draw()
  if (resumesMs < lastsMs) setTimeout(() => void resumeLedger(cluster), resumesMs)
  return isPaused
}

export async function resumeLedger(cluster: Cluster): Promise<void> {
  await control(cluster, 'resume')
}

/** @returns whether one of the api processes has done it */
async function control(
  { places }: Cluster,
  call: 'pause' | 'resume',
  body?: object,
): Promise<boolean> {
  for (const { role, url } of places) {
    if (role !== 'api') continue
    const answer = await caller(url)('POST', `/api/ledger/${call}`, body).catch(() => undefined)
    if (answer?.status === 200) return true
  }
  return false
}

export function between([least, most]: Range, share: number): number {
  return least + share * (most - least)
}
