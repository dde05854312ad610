import { readFileSync } from 'node:fs'
import { type Dispatcher, errors, Pool } from 'undici'
import type { Config } from '../../config/config.ts'
import { answerText } from '../../http/answer-text.ts'
import { endingWith, withTimeLimit } from '../../http/ending-with.ts'
import { retryAfterMs } from '../../http/retry-after.ts'
import { type Answer, NOTHING_WRITTEN, type Received, TOO_LARGE } from '../answers/answer.ts'
import { connectionReason } from '../answers/connection-error.ts'
import { isStoredFailure } from '../answers/error-body.ts'
import { causeOfConnection, inOneSentence } from '../answers/remedy.ts'
import type { LedgerPath } from './path.ts'
import { openPools } from './pools.ts'

/** A loan with its schedule has a few hundred KiB; one with thousands of transactions may be larger than this. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
const CONNECT_TIMEOUT_MS = 5_000
/**
 * Fineract closes a connection after 100 requests or 60 idle seconds: ours close first, so that no write
 * meets a closing one.
 */
const KEEP_ALIVE_MS = 20_000
/** No answer of a ledger is nested deeper than eight levels. One nested thousands deep cannot be stored, or read again. */
const MAX_LEVELS = 100
/** A longer Retry-After must be the sender's mistake, for example the time in seconds since 1970. */
const MAX_PAUSE_MS = 24 * 60 * 60_000

export type LedgerSettings = Pick<
  Config,
  | 'LEDGER_URL'
  | 'LEDGER_USERNAME'
  | 'LEDGER_PASSWORD'
  | 'LEDGER_TENANT'
  | 'LEDGER_CA_FILE'
  | 'LEDGER_TIMEOUT_MS'
  | 'LEDGER_CONCURRENCY'
>

export type Request = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: LedgerPath
  body?: object
  key?: string
  /** The signal ends the call, as its time limit does. */
  signal?: AbortSignal
  traceparent?: string | null
  /** Runs once there is a connection, just before anything is sent. @throws NotSent to end the call */
  beforeSending?(): void
}

/** The call was ended on purpose before anything of it was sent. */
export class NotSent extends Error {}

export function openSender(settings: LedgerSettings) {
  const url = new URL(settings.LEDGER_URL)
  const { use, ...ofPools } = openPools(() => openPool(url, settings))
  const credentials = `${settings.LEDGER_USERNAME}:${settings.LEDGER_PASSWORD}`
  const headers = {
    authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
    'fineract-platform-tenantid': settings.LEDGER_TENANT,
    accept: 'application/json',
    // An update sends again what it has read: from a stored answer it would set back the changes since.
    'cache-control': 'no-cache',
  }

  return { ...ofPools, send }

  function send(request: Request): Promise<Received> {
    // The pool's timeouts end a call that goes silent; this one ends an answer that trickles in.
    const limited = (call: (signal: AbortSignal) => Promise<Received>) =>
      withTimeLimit(settings.LEDGER_TIMEOUT_MS, call, request.signal)
    return use(pool => limited(signal => sendOver(pool, request, signal)))
  }

  async function sendOver(pool: Pool, request: Request, signal: AbortSignal): Promise<Received> {
    const response = await responseOver(pool, request, {
      method: request.method,
      path: url.pathname + request.path,
      headers: {
        ...headers,
        ...(request.traceparent ? { traceparent: request.traceparent } : {}),
        ...(request.key === undefined ? {} : { 'idempotency-key': request.key }),
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal,
    })
    const { statusCode, headers: answered } = response
    const body = parsed(withDaysAsLists(await textOf(response)))
    return {
      status: statusCode,
      body,
      isFromStore: answered['x-served-from-cache'] === 'true' || isStoredFailure(statusCode, body),
      retryAfterMs: [429, 503].includes(statusCode) ? pauseAskedFor(answered) : 0,
    }
  }
}

/** The calls that ended before anything of them was sent. Their error may be that of other calls, too. */
const unsent = new WeakSet<Request>()

async function responseOver(
  pool: Pool,
  request: Request,
  call: Dispatcher.RequestOptions & { signal: AbortSignal },
): Promise<Dispatcher.ResponseData> {
  let isSending = false
  const announced = announcing(() => {
    // Undici may begin again with what it has sent.
    if (!isSending) request.beforeSending?.()
    isSending = true
  })
  try {
    return await endingWith(call.signal, pool.compose(announced).request(call))
  } catch (error) {
    if (!isSending) unsent.add(request)
    throw error
  }
}

/** A call may wait for its connection for seconds. */
const announcing =
  (beforeSending: () => void): Dispatcher.DispatcherComposeInterceptor =>
  dispatch =>
  (options, handler) => {
    const start = handler.onRequestStart
    handler.onRequestStart = (...connected) => {
      beforeSending()
      start?.apply(handler, connected)
    }
    return dispatch(options, handler)
  }

function openPool(url: URL, settings: LedgerSettings): Pool {
  return new Pool(url.origin, {
    connections: settings.LEDGER_CONCURRENCY,
    // Over HTTP/2, all calls would share one connection, and a broken one looks like one that was never made.
    allowH2: false,
    // A broken connection would take all pipelined writes with it.
    pipelining: 1,
    headersTimeout: settings.LEDGER_TIMEOUT_MS,
    bodyTimeout: settings.LEDGER_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxResponseSize: MAX_ANSWER_BYTES,
    connect: {
      timeout: CONNECT_TIMEOUT_MS,
      ...(settings.LEDGER_CA_FILE ? { ca: readFileSync(settings.LEDGER_CA_FILE) } : {}),
    },
  })
}

function pauseAskedFor(headers: Parameters<typeof retryAfterMs>[0]): number {
  const ms = retryAfterMs(headers)
  return ms > MAX_PAUSE_MS ? 0 : ms
}

/** An answer that is too large is one nevertheless: the ledger is not down. */
function textOf(response: Dispatcher.ResponseData): Promise<string> {
  return answerText(response, MAX_ANSWER_BYTES).catch(error => {
    if (error instanceof errors.ResponseExceededMaxSizeError) return TOO_LARGE
    throw error
  })
}

const DAY_AS_TEXT = /("\w{0,40}[dD]ate" ?: ?)"(\d{4})-0?(\d{1,2})-0?(\d{1,2})"/g

/** Fineract writes a day as a list or, in the resources that use its newer way of writing JSON, as a text. */
const withDaysAsLists = (text: string) => text.replace(DAY_AS_TEXT, '$1[$2,$3,$4]')

/** The body. One that is not JSON, or not a ledger's, stays text, which says nothing about the outcome. */
function parsed(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text)
    return isDeeperThan(MAX_LEVELS, body) ? text : body
  } catch {
    return text
  }
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some(inner => isDeeperThan(levels - 1, inner))
}

/** @throws NotSent */
export function unanswered(error: object, request: Request): Omit<Answer, 'method' | 'path'> {
  if (error instanceof NotSent) throw error
  const leftNothing = unsent.has(request) || request.method === 'GET'
  const reason = connectionReason(error as NodeJS.ErrnoException)
  const cause = causeOfConnection(reason)
  return {
    ...NOTHING_WRITTEN,
    status: null,
    outcome: leftNothing ? 'not_arrived' : 'unknown',
    message: `no answer (${reason})${cause === undefined ? '' : `: ${inOneSentence(cause)}`}`,
    hasRemedy: cause !== undefined,
    leftNothing,
  }
}
