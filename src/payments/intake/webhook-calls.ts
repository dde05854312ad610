import type { FastifyReply, FastifyRequest } from 'fastify'
import { addressOf } from '../../accounts/address.ts'
import type { Database } from '../../database/database.ts'
import { addressKey } from '../../http/connections/address-key.ts'
import { asWarning, type Log } from '../../log/log.ts'
import type { GatewayName } from '../gateways/gateways.ts'
import { UNKNOWN } from '../payment-event.ts'
import { KEPT_CALLS, saveCalls, type WebhookCall } from './webhook-call-store.ts'

/** A flood of calls costs no more than one statement in this time. */
const SAVE_AFTER_MS = 1_000
/** The reason where nothing more is known of the call. */
const REASONS: Record<number, string> = {
  400: 'The body is not a JSON object: have the gateway send JSON',
  413: 'The body is larger than 1 MiB',
  429: 'Its address has sent too many events: see WEBHOOKS_PER_MINUTE',
  503: 'The event could not be stored; the gateway should send it again',
}

const COMPRESSED = 'The body is compressed: have the gateway, or the proxy, send it as it is'

/** The facts of a call once its body has been read. */
type Known = { lender: string; eventType: string | null; reason?: string }

export type WebhookCalls = ReturnType<typeof openWebhookCalls>

/** Keeps the last calls, in memory for a moment and then in a table that all processes share. */
export function openWebhookCalls(db: Database, log: Pick<Log, 'warn'>) {
  const known = new WeakMap<FastifyRequest, Known>()
  const waiting = openWaiting()
  let timer: NodeJS.Timeout | undefined
  let saving = Promise.resolve()

  return {
    learn: (request: FastifyRequest, of: Known): void => void known.set(request, of),
    note: (gateway: GatewayName) => async (request: FastifyRequest, reply: FastifyReply) => {
      waiting.add(callOf(gateway, request, reply))
      timer ??= setTimeout(save, SAVE_AFTER_MS).unref()
    },
    /** Calls that are still in memory are lost: a stop must not wait for a connection that an upload may have. */
    async close(): Promise<void> {
      clearTimeout(timer)
      await saving
    },
  }

  function callOf(
    gateway: GatewayName,
    request: FastifyRequest,
    { statusCode: status }: FastifyReply,
  ): WebhookCall {
    const { lender, eventType, reason } = known.get(request) ?? { lender: UNKNOWN, eventType: null }
    return {
      gateway,
      at: new Date(),
      address: addressOf(request),
      status,
      event_type: eventType,
      lender,
      reason: reason ?? (status === 200 ? null : whyRefused(request, status)),
    }
  }

  function save(): void {
    timer = undefined
    const calls = waiting.takeAll()
    if (calls.length === 0) return
    saving = saving
      .then(() => saveCalls(db, calls))
      .catch(asWarning(log, 'the last calls of webhooks could not be saved'))
  }
}

/** Calls are grouped by gateway, by stored or refused, and by address, so that a flood pushes out no others. */
function openWaiting() {
  const waiting = new Map<string, Map<string, WebhookCall[]>>()
  return {
    add(call: WebhookCall): void {
      const alike = `${call.gateway} ${call.status === 200}`
      const addresses = waiting.get(alike) ?? new Map<string, WebhookCall[]>()
      waiting.set(alike, addresses)
      const address = addressKey(call.address)
      addresses.set(address, [...(addresses.get(address) ?? []), call].slice(-KEPT_CALLS))
      const [oldest = address] = addresses.keys()
      if (addresses.size > KEPT_CALLS) addresses.delete(oldest)
    },
    takeAll(): WebhookCall[] {
      const calls = [...waiting.values()].flatMap(addresses => [...addresses.values()].flat())
      waiting.clear()
      return calls
    },
  }
}

function whyRefused({ raw: { headers } }: FastifyRequest, status: number): string | null {
  const isCompressed = status === 400 && (headers['content-encoding'] ?? 'identity') !== 'identity'
  return isCompressed ? COMPRESSED : (REASONS[status] ?? null)
}
