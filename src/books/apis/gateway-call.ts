import { setTimeout as sleep } from 'node:timers/promises'
import { type Dispatcher, errors } from 'undici'
import type { OutboundProxy } from '../../config/proxy.ts'
import { answerText } from '../../http/answer-text.ts'
import { connectionTrouble, openAgent } from '../../http/connections/open-agent.ts'
import { endingWith, withTimeLimit } from '../../http/ending-with.ts'
import { retryAfterMs } from '../../http/retry-after.ts'
import type { Trace } from '../../ops/traces/traces.ts'
import type { GatewayCall } from '../../payments/gateways/gateway-api.ts'
import { parseExact } from '../../payments/gateways/items/exact-json.ts'
import {
  GatewayRefused,
  GatewayUnavailable,
  UnexpectedAnswer,
} from '../../payments/gateways/items/gateway-errors.ts'

/** A page may have a thousand rows of some kilobytes each. */
const MAX_BODY_BYTES = 16 * 1024 * 1024
const MAX_PAUSE_MS = 60_000
/**
 * Ids that no gateway has, but that strangers send. A server resolves steps such as `..` in a path; a firewall takes other
 * characters for an attack, and may then refuse every call of ours.
 */
const HAS_NO_ID = /\/\.{0,2}(?=\/|\?|$)|[^\w./?&=-]/

type ApiAddress = {
  url: string
  /** The headers carry the credentials, which no message repeats. */
  headers: Record<string, string>
  proxy: OutboundProxy
}

export type Patience = { timeoutMs: number; retryAfterMs: readonly number[]; atOnce: number }
/** A fetch gives up after these retries; the next fetch resumes. A page takes a second or two. */
const PATIENT: Patience = {
  timeoutMs: 8_000,
  retryAfterMs: [1_000, 2_000, ...Array<number>(10).fill(5_000)],
  atOnce: 1,
}
/** A question is part of a batch, which cannot end before the answer; the next batch asks again. */
export const IMPATIENT: Patience = { timeoutMs: 5_000, retryAfterMs: [], atOnce: 4 }

type Follower = { trace: Trace | undefined; during<T>(call: () => Promise<T>): Promise<T> }

export function openGatewayCaller(
  { url, headers, proxy }: ApiAddress,
  follower?: Follower,
  { timeoutMs, retryAfterMs: pauses, atOnce }: Patience = PATIENT,
) {
  const { origin, hostname, pathname } = new URL(url)
  const agent = openAgent(proxy, {
    connections: atOnce,
    pipelining: 1,
    allowH2: false,
    maxResponseSize: MAX_BODY_BYTES,
  })
  const stopping = new AbortController()
  let last: Promise<unknown> = Promise.resolve()

  return {
    async call(call: GatewayCall): Promise<unknown> {
      if (HAS_NO_ID.test(call.path)) throw new GatewayRefused(404, undefined)
      const attributes = { 'http.request.method': call.method, 'server.address': hostname }
      const span = { name: `gateway ${nameOf(call)}`, isCall: true, attributes }
      const traced = () => follower?.trace?.span(span, () => once(call)) ?? once(call)
      const made = () => untilAnswered(traced, pauses, stopping.signal)
      const followed = async () => {
        const answer = await (follower ? follower.during(made) : made())
        if (isRefusal(answer)) throw answer
        return answer
      }
      if (atOnce > 1) return followed()
      const next = last.catch(() => undefined).then(followed)
      last = next
      return next
    },
    async close(): Promise<void> {
      stopping.abort()
      await agent.destroy()
    },
  }

  function once({ method, path, body }: GatewayCall): Promise<unknown> {
    const request = { origin, method, path: pathname + path, headers, body: body ?? null }
    return withTimeLimit(
      timeoutMs,
      signal => callOnce(agent, { ...request, signal }, nameOf({ method, path })),
      stopping.signal,
    )
  }
}

/** A refusal is returned. Cockatiel's retries do not end while they wait: a stop would take a minute. */
async function untilAnswered(
  once: () => Promise<unknown>,
  pauses: Patience['retryAfterMs'],
  stopping: AbortSignal,
): Promise<unknown> {
  for (let tries = 0; ; tries++) {
    const answer = await once().catch((error: Error) => error)
    const isOver = !(answer instanceof GatewayUnavailable) || tries >= pauses.length
    if (!isOver) {
      const ms = Math.max(pauses[tries] as number, answer.retryAfterMs)
      await sleep(Math.min(ms, MAX_PAUSE_MS), undefined, { signal: stopping })
      continue
    }
    if (answer instanceof Error && !isRefusal(answer)) throw answer
    return answer
  }
}

/** A gateway that refuses a call has answered it, however long it took. */
const isRefusal = (answer: unknown): boolean =>
  answer instanceof GatewayRefused || answer instanceof UnexpectedAnswer

type GatewayRequest = Dispatcher.RequestOptions & {
  headers: Record<string, string>
  signal: AbortSignal
}

async function callOnce(
  agent: Dispatcher,
  { headers, signal, ...call }: GatewayRequest,
  name: string,
): Promise<unknown> {
  const sent = agent.request({
    ...call,
    signal,
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
  })
  const response = await endingWith(signal, sent).catch((error: Error) => {
    // A request that undici finds invalid would never be sent, however often we tried.
    if (error instanceof errors.InvalidArgumentError) throw error
    const message =
      error.name === 'TimeoutError'
        ? `it did not respond in time to ${name}`
        : (connectionTrouble(error) ?? 'it cannot be reached')
    throw new GatewayUnavailable(message, { cause: error })
  })
  const text = await readText(response)
  const { statusCode: status } = response
  if (status === 429 || status >= 500)
    throw new GatewayUnavailable(`it answered ${status} to ${name}`, {
      retryAfterMs: retryAfterOf(response.headers),
    })
  if (status !== 200) throw new GatewayRefused(status, codeOf(text), isAboutId(text), name)
  return jsonOf(text)
}

function jsonOf(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    // The parser's error is not given as the cause: its message would quote the response.
    throw new UnexpectedAnswer('the response is not JSON')
  }
}

/** What the path asks for, without the ids in it. */
function nameOf({ method, path }: GatewayCall): string {
  const [, resource, , part] = path.replace(/\?.*/, '').split('/')
  return `${method} ${resource}${part === undefined ? '' : `/…/${part}`}`
}

async function readText(response: Dispatcher.ResponseData): Promise<string> {
  try {
    return await answerText(response, MAX_BODY_BYTES)
  } catch (error) {
    if (error instanceof errors.ResponseExceededMaxSizeError)
      throw new UnexpectedAnswer('the response is too large')
    throw new GatewayUnavailable('the response was cut off', { cause: error })
  }
}

/** The header is in seconds or a date. Gateway B has a header of its own, in seconds. */
const retryAfterOf = (headers: Record<string, string | string[] | undefined>): number =>
  retryAfterMs({ 'retry-after': headers['x-ratelimit-retry'], ...headers })

/** A refusal without a code is the page of a proxy or firewall, which knows no id. */
function isAboutId(text: string): boolean {
  const [, description = 'id'] = /"description"\s*:\s*"([^"]*)"/.exec(text) ?? []
  const isAboutUrl = /\bURL\b/.test(description)
  return codeOf(text) !== undefined && !isAboutUrl && /\b(ids?|exists?|found)\b/i.test(description)
}

const codeOf = (text: string): string | undefined =>
  /"code"\s*:\s*"([A-Za-z_]{1,60})"/.exec(text)?.[1]
