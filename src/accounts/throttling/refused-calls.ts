import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import { addressKey } from '../../http/connections/address-key.ts'
import { addressOf } from '../address.ts'

/** Webhooks count and log wrong signatures themselves. */
const WEBHOOK_PATH = '/api/webhooks/'
const REASONS: Record<number, string> = { 401: 'unauthorized', 403: 'forbidden', 429: 'throttled' }
/** One line for all further refusals of an address in this time: a flood must not fill the log. */
const QUIET_MS = 60_000
/** Beyond this number, lines name no new addresses until the next minute. */
const MAX_ADDRESSES = 1_000

type Seen = { further: number }

/** An onSend hook, which is also called for the answers that no hook sees. It may take a while. */
type NoteAnswer = (request: FastifyRequest, statusCode: number) => Promise<void>

/**
 * Counts calls that were refused because of who made them, logs each without what it sent, and answers late whoever
 * keeps failing.
 */
export function openRefusedCalls(registry: Registry, log: FastifyBaseLogger) {
  const refused = new Counter({
    name: 'loanops_refused_calls_total',
    help: 'Calls refused because of the caller, by reason',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of Object.values(REASONS)) refused.inc({ reason }, 0)
  const slowly = slowFailures()
  const seen = new Map<string, Seen>()
  const timer = setInterval(() => {
    for (const [key, { further }] of seen)
      if (further > 0) log.warn({ of: key, calls: further }, 'further calls refused')
    seen.clear()
  }, QUIET_MS).unref()

  const note: NoteAnswer = async (request, statusCode) => {
    const reason = REASONS[statusCode]
    const route = request.routeOptions.url ?? 'none'
    const isEvent = request.method === 'POST' && route.startsWith(WEBHOOK_PATH)
    if (reason === undefined || isEvent) return
    refused.inc({ reason })
    const address = addressOf(request)
    const known = seen.get(`${reason} ${addressKey(address)}`)
    if (known !== undefined) known.further++
    else if (seen.size < MAX_ADDRESSES) {
      seen.set(`${reason} ${addressKey(address)}`, { further: 0 })
      request.log.warn({ reason, address, route }, 'call refused')
    }
    await slowly(request)
  }
  return { note, close: () => clearInterval(timer) }
}

/** A misconfigured caller repeats a few calls; with more, somebody guesses. */
const FREE_FAILURES = 20
const WINDOW_MS = 60_000
const DELAY_MS = 1_000
/**
 * At most this many refusals are delayed at once, because each takes memory. As each is delayed for a second, this is also
 * the number of guesses per second.
 */
const MAX_WAITING = 1_000
const MAX_FAILING = 10_000

/** Delays the refusals of an address that keeps failing. Calls that succeed never come here. */
function slowFailures(): (request: FastifyRequest) => Promise<void> {
  const failures = new Map<string, { count: number; until: number }>()
  let waiting = 0
  return async request => {
    const now = performance.now()
    const key = addressKey(addressOf(request))
    const known = failures.get(key)
    if (known === undefined || known.until < now) {
      if (failures.size >= MAX_FAILING) failures.clear()
      failures.set(key, { count: 1, until: now + WINDOW_MS })
      return
    }
    known.count++
    if (known.count <= FREE_FAILURES) return
    // One connection may carry any number of calls: beyond this number, a call costs its connection.
    if (waiting >= MAX_WAITING) return void request.raw.destroy()
    waiting++
    await sleep(DELAY_MS).finally(() => waiting--)
  }
}
