import type { CallbackSettings } from '../../config/settings/callback-settings.ts'
import { connectionTrouble, openAgent } from '../../http/connections/open-agent.ts'
import { endingWith, withTimeLimit } from '../../http/ending-with.ts'
import { retryAfterMs } from '../../http/retry-after.ts'
import { publicReason } from '../../log/public-error.ts'
import { signedHeaders } from '../sign.ts'
import { answerReader } from './read-answer.ts'

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

type Sending = {
  id: string
  body: string
  traceparent: string | null
  /** The time of the database's clock: receivers refuse the timestamp of a process whose clock is wrong. */
  at: Date
}

export function openCallbackSender(
  { url, keys, timeoutMs, proxy }: CallbackSettings,
  connections: number,
) {
  const readAnswer = answerReader(timeoutMs, connections)
  const agent = openAgent(proxy, {
    // An answer that stays open keeps its connection.
    connections: 2 * connections,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: timeoutMs },
  })
  const { origin, pathname, search } = new URL(url)

  return {
    /** Sends a callback, and never throws. */
    async send(sending: Sending): Promise<SentCallback> {
      const { at: startedAt } = sending
      const since = performance.now()
      const ended = await withTimeLimit(timeoutMs, signal => attempt(sending, signal)).catch(
        failure,
      )
      const endedAt = new Date(startedAt.getTime() + performance.now() - since)
      return { ...ended, startedAt, endedAt }
    },
    close: () => agent.destroy(),
  }

  async function attempt({ id, body, traceparent, at }: Sending, signal: AbortSignal) {
    const sent = agent.request({
      origin,
      path: pathname + search,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'LoanOps',
        ...(traceparent !== null && { traceparent }),
        ...signedHeaders(keys, id, body, at),
      },
      body,
      signal,
    })
    const { statusCode: status, headers, body: answer } = await endingWith(signal, sent)
    const outcome = outcomeOf(status)
    const isDelivered = outcome === 'delivered'
    const error = isDelivered ? null : whyRefused(status)
    const beginning = await readAnswer(answer, isDelivered)
    return { outcome, status, error, answer: beginning, retryAfterMs: retryAfterMs(headers) }
  }
}

function outcomeOf(status: number): SentCallback['outcome'] {
  if (status >= 200 && status < 300) return 'delivered'
  return status === GONE ? 'gone' : 'failed'
}

const whyRefused = (status: number): string =>
  `The receiver answered ${status}${status < 400 ? ': redirects are not followed, so CALLBACK_URL must be its final address' : ''}`

function failure(error: Error) {
  const isTimeout = error.name === 'TimeoutError'
  return {
    outcome: 'failed' as const,
    status: null,
    error: isTimeout
      ? 'The receiver did not respond in time'
      : (connectionTrouble(error) ?? publicReason(error)),
    answer: null,
    retryAfterMs: 0,
  }
}
