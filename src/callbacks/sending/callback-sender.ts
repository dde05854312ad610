import type { Dispatcher } from 'undici'
import type { CallbackSettings } from '../../config/settings/callback-settings.ts'
import { openAgent, proxyRefusal } from '../../http/connections/open-agent.ts'
import { endingWith, withTimeLimit } from '../../http/ending-with.ts'
import { retryAfterMs } from '../../http/retry-after.ts'
import { publicReason } from '../../log/public-error.ts'
import { storableText } from '../../text/storable.ts'
import { signedHeaders } from '../sign.ts'

/** Enough bytes of a response to show the cause of a failure. */
const MAX_ANSWER_BYTES = 4_096
/** A receiver that took the callback may leave its answer open, and must not hold the next callback up. */
const READ_OF_SUCCESS_MS = 250
const GONE = 410

export type SentCallback = {
  startedAt: Date
  endedAt: Date
  /** 'gone': the receiver wants no more callbacks. */
  outcome: 'delivered' | 'failed' | 'gone'
  status: number | null
  error: string | null
  answer: string | null
  retryAfterMs: number
}

type CallbackSender = {
  /**
   * Sends a callback, and never throws.
   * @param at by the database's clock: receivers refuse the timestamp of a process whose clock is wrong
   */
  send(id: string, body: string, traceparent: string | null, at: Date): Promise<SentCallback>
  close(): Promise<void>
}

type Sending = {
  id: string
  body: string
  traceparent: string | null
  at: Date
  signal: AbortSignal
}

export function openCallbackSender(
  { url, keys, timeoutMs, proxy }: CallbackSettings,
  connections: number,
): CallbackSender {
  const agent = openAgent(proxy, {
    connections,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: timeoutMs },
  })
  const { origin, pathname, search } = new URL(url)

  return {
    async send(id, body, traceparent, at) {
      const since = performance.now()
      const ended = await withTimeLimit(timeoutMs, signal =>
        attempt({ id, body, traceparent, at, signal }),
      ).catch(failure)
      const endedAt = new Date(at.getTime() + performance.now() - since)
      return { startedAt: at, endedAt, ...ended }
    },
    close: () => agent.destroy(),
  }

  async function attempt({ id, body, traceparent, at, signal }: Sending) {
    const sent = agent.request({
      origin,
      path: pathname + search,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'LoanOps',
        ...(traceparent === null ? {} : { traceparent }),
        ...signedHeaders(keys, id, body, at),
      },
      body,
      signal,
    })
    return answerIn(await endingWith(signal, sent))
  }
}

async function answerIn({ statusCode: status, headers, body }: Dispatcher.ResponseData) {
  const isDelivered = status >= 200 && status < 300
  return {
    outcome: isDelivered ? ('delivered' as const) : refusalOf(status),
    status,
    error: isDelivered ? null : `The receiver answered ${status}`,
    answer: await beginningOf(body, isDelivered ? READ_OF_SUCCESS_MS : undefined),
    retryAfterMs: retryAfterMs(headers),
  }
}

const refusalOf = (status: number) => (status === GONE ? ('gone' as const) : ('failed' as const))

/**
 * The beginning of a response's body. The status has already decided the outcome: of a body that breaks off or never
 * ends, the part that arrived is kept.
 */
async function beginningOf(
  body: Dispatcher.ResponseData['body'],
  withinMs?: number,
): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  const late = withinMs === undefined ? undefined : setTimeout(() => body.destroy(), withinMs)
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= MAX_ANSWER_BYTES) break
    }
  } catch {
  } finally {
    clearTimeout(late)
  }
  return storableText(Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString())
}

function failure(error: Error) {
  const isTimeout = error.name === 'TimeoutError'
  return {
    outcome: 'failed' as const,
    status: null,
    error: isTimeout
      ? 'The receiver did not respond in time'
      : (proxyRefusal(error) ?? publicReason(error)),
    answer: null,
    retryAfterMs: 0,
  }
}
