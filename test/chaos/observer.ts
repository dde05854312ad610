import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { clientData } from '../support/ledger/loans.ts'
import { caller } from '../support/service.ts'
import type { Place } from './cluster.ts'

const LOOK_EVERY_MS = 400
/** Readyz answers within 3 s, and a caller does not wait longer either. */
const PATIENCE_MS = 3_000
/** A call may take this long before it counts as trouble. */
const UNANSWERED_SECONDS = 3

/** Times in milliseconds, in order. A look counts from when it began. */
export type Seen = {
  /** Per api process: when what was then accepted was asked for. */
  accepted: Map<Place, number[]>
  /** Per process: whether readyz said that it is ready; undefined where it did not answer. */
  ready: Map<Place, { at: number; isReady: boolean | undefined; body: unknown }[]>
  /** Per process and path: when its metrics showed trouble there. */
  alarms: { ledger: number[]; gateway: number[] }
  /** Per origin: when operations ended, by the database's own clock, which is ours. */
  ended: Map<string, number[]>
  /** When the fetches from the gateway ended that were completed. */
  fetched: number[]
}

/** What somebody outside sees of the processes, all the time. */
export function observe(places: Place[], db: Database, onAccepted: (id: string) => void) {
  const apis = places.filter(({ role }) => role === 'api')
  const seen: Seen = {
    accepted: new Map(apis.map(place => [place, []])),
    ready: new Map(places.map(place => [place, []])),
    alarms: { ledger: [], gateway: [] },
    ended: new Map(),
    fetched: [],
  }
  let isOver = false
  let named = 0
  const loops = [
    ...apis.map(place => repeat(() => submit(place))),
    ...places.map(place => repeat(() => askWhetherReady(place))),
    ...places.map(place => repeat(() => readMetrics(place))),
    repeat(readEnds),
    repeat(fetchFromGateway),
  ]
  return {
    seen,
    async stop() {
      isOver = true
      await Promise.all(loops)
    },
  }

  async function repeat(look: () => Promise<void>): Promise<void> {
    while (!isOver) {
      await look().catch(() => undefined)
      await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
    }
  }

  async function submit(place: Place): Promise<void> {
    const at = Date.now()
    const name = `O-${++named}`
    const body = { status: 'CLIENT_CREATE', data: clientData(name) }
    const { status, body: answer } = await ask(place, 'POST', '/api/ledger/operate', body)
    if (status !== 202) return
    seen.accepted.get(place)?.push(at)
    onAccepted(answer.tracking_id.split('|')[1])
  }

  async function askWhetherReady(place: Place): Promise<void> {
    const at = Date.now()
    const answer = await ask(place, 'GET', '/readyz').catch(() => undefined)
    const isReady = answer && answer.status === 200
    seen.ready.get(place)?.push({ at, isReady, body: answer?.body })
  }

  async function readMetrics(place: Place): Promise<void> {
    const at = Date.now()
    const { body } = await ask(place, 'GET', '/metrics')
    const highest = (pattern: RegExp) =>
      Math.max(0, ...[...String(body).matchAll(pattern)].map(([, value]) => Number(value)))
    if (
      highest(/^loanops_ledger_breaker_open (\d)/gm) === 1 ||
      highest(/^loanops_unanswered_seconds\{of="ledger"\} (\S+)/gm) >= UNANSWERED_SECONDS ||
      highest(/^loanops_operations_unfinished\{.*waiting_for="ledger_.*\} (\d+)/gm) > 0
    )
      seen.alarms.ledger.push(at)
    if (
      highest(/^loanops_gateway_fetch_failing\{.*\} (\d)/gm) === 1 ||
      highest(/^loanops_unanswered_seconds\{of="gateway_a"\} (\S+)/gm) >= UNANSWERED_SECONDS
    )
      seen.alarms.gateway.push(at)
  }

  async function readEnds(): Promise<void> {
    const { rows } = await sql<{ origin: string; at: Date }>`
      select origin, max(processed_at) as at from loanops.operation
       where status <> 'processing' group by origin`.execute(db)
    for (const { origin, at } of rows) {
      const known = seen.ended.get(origin) ?? []
      if (known.at(-1) !== at.getTime()) seen.ended.set(origin, [...known, at.getTime()])
    }
  }

  async function fetchFromGateway(): Promise<void> {
    const to = new Date().toISOString()
    const from = new Date(Date.now() - 60_000).toISOString()
    await ask(apis[0] as Place, 'POST', '/api/gateways/gateway_a/backfill', { from, to })
    for (let isOpen = true; isOpen && !isOver; ) {
      await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
      const { rows } = await sql<{ open: boolean; last: Date | null }>`
        select bool_or(status = 'running') as open, max(ended_at) filter (where status = 'completed') as last
          from core.backfill`.execute(db)
      isOpen = rows[0]?.open === true
      const last = rows[0]?.last?.getTime()
      if (last !== undefined && seen.fetched.at(-1) !== last) seen.fetched.push(last)
    }
  }
}

async function ask(place: Place, method: string, path: string, body?: object) {
  const answer = caller(place.url)(method, path, body)
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('no answer in time')), PATIENCE_MS)
  answer.catch(() => undefined)
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer))
}
