import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import { addressKey } from '../http/address-key.ts'
import { addressOf } from './address.ts'

/** Webhooks count their signatures, and log them, themselves. */
const OF_WEBHOOKS = '/api/webhooks/'
const REASONS: Record<number, string> = { 401: 'unauthorized', 403: 'forbidden', 429: 'throttled' }
/** One line for all further refusals of an address in this time: a flood must not fill the log. */
const QUIET_MS = 60_000
/** Beyond it, lines name no new addresses until the next minute. */
const MAX_ADDRESSES = 1_000

type Seen = { further: number }

/** Counts calls that were refused for who made them, and logs each without what it sent. */
export function watchRefusals(
  app: FastifyInstance,
  registry: Registry,
  log: FastifyBaseLogger,
): void {
  const refused = new Counter({
    name: 'loanops_refused_calls_total',
    help: 'Calls refused for who made them, by reason',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of Object.values(REASONS)) refused.inc({ reason }, 0)
  const seen = new Map<string, Seen>()
  const timer = setInterval(() => {
    for (const [key, { further }] of seen)
      if (further > 0) log.warn({ of: key, calls: further }, 'further calls refused')
    seen.clear()
  }, QUIET_MS).unref()
  app.addHook('onClose', async () => clearInterval(timer))
  // Not onResponse: who hangs up while a refusal is held back would be counted as answered.
  app.addHook('onSend', async (request, { statusCode }) => {
    const reason = REASONS[statusCode]
    const route = request.routeOptions.url ?? 'none'
    if (reason === undefined || route.startsWith(OF_WEBHOOKS)) return
    refused.inc({ reason })
    const address = addressOf(request)
    const known = seen.get(`${reason} ${addressKey(address)}`)
    if (known !== undefined) known.further++
    else if (seen.size < MAX_ADDRESSES) {
      seen.set(`${reason} ${addressKey(address)}`, { further: 0 })
      request.log.warn({ reason, address, route }, 'call refused')
    }
  })
}
