import { readFileSync } from 'node:fs'
import { errors, Pool } from 'undici'
import type { Config } from '../config.ts'
import {
  type Answer,
  classifyRead,
  classifyWrite,
  codeOf,
  LedgerTrouble,
  messageOf,
  type Received,
  type Verdict,
} from './answer.ts'
import { type Breaker, openBreaker } from './breaker.ts'

/** A loan with its schedule has a few hundred KiB; more than this is not an answer of a ledger. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
const CONNECT_TIMEOUT_MS = 5_000
/** Fineract closes a connection after 100 requests or 60 idle seconds: leave first, so that no write meets a closing one. */
const KEEP_ALIVE_MS = 20_000

export type Write = {
  method: 'POST' | 'PUT' | 'DELETE'
  path: string
  body?: object
  /** At most 50 characters, unique per action and entity at the ledger. */
  key: string
  /** The member of a 200 that says that the write was applied. */
  promisedId: 'clientId' | 'loanId' | 'resourceId'
}

export type Done<Body> = Answer & { outcome: 'done'; body: Body }
/** What a read found, or the ledger's refusal (404: it is not there). */
export type Reading<Body> = Done<Body> | (Answer & { outcome: 'refused' })

/** The ledger as everything above sees it: reads that answer or throw, writes that always answer. */
export type Ledger = {
  /** @throws LedgerTrouble when the ledger did not say */
  read<Body>(path: string): Promise<Reading<Body>>
  write(write: Write): Promise<Answer>
  /** Asks the smallest question, to learn whether a ledger that was down is back. */
  probe(): Promise<void>
  breaker: Breaker
  /** Hears every answer, for metrics. */
  onAnswer(listener: (answer: Answer) => void): void
  close(): Promise<void>
  /** Ends the calls that are under way; what became of them at the ledger is then unknown. */
  cutOff(): Promise<void>
}

/** What a write needs: under its key the ledger takes it once. */
export type Writer = { ledger: Pick<Ledger, 'write'>; key: string }

type Settings = Pick<
  Config,
  | 'LEDGER_URL'
  | 'LEDGER_USERNAME'
  | 'LEDGER_PASSWORD'
  | 'LEDGER_TENANT'
  | 'LEDGER_CA_FILE'
  | 'LEDGER_TIMEOUT_MS'
  | 'LEDGER_CONCURRENCY'
>

export function openLedger(settings: Settings): Ledger {
  const url = new URL(settings.LEDGER_URL)
  const pool = new Pool(url.origin, {
    connections: settings.LEDGER_CONCURRENCY,
    // Pipelined writes would share one fate when the connection breaks.
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
  const credentials = `${settings.LEDGER_USERNAME}:${settings.LEDGER_PASSWORD}`
  const headers = {
    authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
    'fineract-platform-tenantid': settings.LEDGER_TENANT,
    accept: 'application/json',
  }
  const listeners: ((answer: Answer) => void)[] = []
  const breaker = openBreaker()

  return {
    async read<Body>(path: string) {
      const answer = await call({ method: 'GET', path }, classifyRead)
      if (answer.outcome !== 'done' && answer.outcome !== 'refused') throw new LedgerTrouble(answer)
      return answer as Reading<Body>
    },
    write({ promisedId, ...request }) {
      return call(request, received => classifyWrite(received, promisedId))
    },
    probe: () => call({ method: 'GET', path: '/paymenttypes' }, classifyRead).then(() => undefined),
    breaker,
    onAnswer: listener => void listeners.push(listener),
    close: () => (pool.destroyed ? Promise.resolve() : pool.close()),
    cutOff: () => pool.destroy(),
  }

  async function call(request: Request, take: Take): Promise<Answer> {
    const { method, path } = request
    const unsent = () => ({ method, path, ...NOT_SENT })
    return breaker.guard(() => answered(request, take), unsent)
  }

  async function answered(request: Request, take: Take): Promise<Answer> {
    const { method, path } = request
    const answer = await send(request).then(
      received => ({
        method,
        path,
        status: received.status,
        body: received.body,
        isRecorded: false,
        isFromStore: received.isFromStore,
        leftNothing: method === 'GET',
        code: codeOf(received.body),
        ...told(received, take(received)),
      }),
      error => ({ method, path, ...unanswered(error, method) }),
    )
    for (const listener of listeners) listener(answer)
    return answer
  }

  async function send(request: Request) {
    const {
      statusCode,
      headers: answered,
      body,
    } = await pool.request({
      method: request.method,
      path: url.pathname + request.path,
      headers: {
        ...headers,
        ...(request.key === undefined ? {} : { 'idempotency-key': request.key }),
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: request.body === undefined ? null : JSON.stringify(request.body),
      // The time-outs of the pool are for silence; this one is for an answer that trickles.
      signal: AbortSignal.timeout(settings.LEDGER_TIMEOUT_MS),
    })
    const text = await body.text()
    return {
      status: statusCode,
      body: parsed(text),
      isFromStore: answered['x-served-from-cache'] === 'true',
    }
  }
}

/** Beside the verdict, one sentence for people. */
function told<T extends { outcome: Answer['outcome'] }>({ status, body }: Received, verdict: T) {
  const message = messageOf(status, body)
  return verdict.outcome === 'misconfigured'
    ? { ...verdict, message: `our credentials, permissions, URL or tenant are wrong: ${message}` }
    : { ...verdict, message }
}

type Request = { method: Write['method'] | 'GET'; path: string; body?: object; key?: string }
type Take = (received: Received) => Verdict

const NOT_SENT: Omit<Answer, 'method' | 'path'> = {
  status: null,
  body: null,
  outcome: 'not_arrived',
  code: null,
  message: 'the ledger is down',
  isRecorded: false,
  isFromStore: false,
  leftNothing: true,
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** No answer came. Only where not even a connection was made is it certain that nothing was sent. */
function unanswered(error: unknown, method: string): Omit<Answer, 'method' | 'path'> {
  const { code } = error as NodeJS.ErrnoException
  const leftNothing = isUnconnected(error) || method === 'GET'
  return {
    status: null,
    body: null,
    outcome: leftNothing ? 'not_arrived' : 'unknown',
    code: null,
    message: `no answer (${code ?? (error as Error).name})`,
    isRecorded: false,
    isFromStore: false,
    leftNothing,
  }
}

function isUnconnected(error: unknown): boolean {
  // A name with several addresses fails with one error for each.
  if (error instanceof AggregateError) return error.errors.every(isUnconnected)
  const { code, syscall } = error as NodeJS.ErrnoException
  return (
    error instanceof errors.ConnectTimeoutError ||
    syscall === 'connect' ||
    syscall === 'getaddrinfo' ||
    /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(code ?? '')
  )
}
