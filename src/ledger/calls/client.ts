import { tracedCall } from '../../ops/traces/traced-call.ts'
import type { Trace } from '../../ops/traces/traces.ts'
import {
  type Answer,
  type AnswerKind,
  classifyRead,
  classifyWrite,
  explained,
  LedgerTrouble,
  notSent,
  type Received,
} from '../answers/answer.ts'
import { codeOf } from '../answers/error-body.ts'
import { isRefusalOfAnother, type Promised } from '../answers/of-another-call.ts'
import { type Breaker, openBreaker } from './breaker.ts'
import { type LedgerLogin, openLedgerLogin } from './login.ts'
import { type LedgerPath, ledgerPath } from './path.ts'
import { type LedgerSettings, openSender, type Request, unanswered } from './send.ts'

/** A ledger that is not down answers within this time. */
const NEW_CONNECTION_ANSWERS_WITHIN_MS = 3_000
/**
 * These reads are apart from LEDGER_CONCURRENCY: however many people look, operations do not wait for them. Other
 * people's reads wait in line.
 */
const READS_FOR_CALLERS = 2
const MINIMAL: Request = { method: 'GET', path: ledgerPath(['paymenttypes']) }

export type Write = {
  method: 'POST' | 'PUT' | 'DELETE'
  path: LedgerPath
  body?: object
  /** At most 50 characters, unique per action and entity at the ledger. */
  key: string
} & Pick<Request, 'beforeSending'> &
  Omit<Promised, 'sent'>

export type Done<Body> = Answer & { outcome: 'done'; body: Body }
/** A refusal with 404 means that what was read is not there. */
export type Reading<Body> = Done<Body> | (Answer & { outcome: 'refused' })

export type Reader = {
  /** @throws LedgerTrouble if the ledger cannot be read */
  read<Body>(path: LedgerPath, trace?: Trace): Promise<Reading<Body>>
}

/** A read returns or throws, a write always returns an answer. */
export type Ledger = Reader & {
  /** A reader for what somebody waits for: the breaker does not count its reads, and `signal` ends them. */
  forCaller(signal: AbortSignal): Reader
  write(write: Write, trace?: Trace): Promise<Answer>
  probe(): Promise<boolean>
  /** Tries a new connection; if the ledger answers there, nobody waits any more for calls that hang. */
  abandonHungCalls(ms: number): Promise<boolean>
  breaker: Breaker
  login: LedgerLogin
  onAnswer(listener: (answer: Answer) => void): void
  close(): Promise<void>
  /** Ends the reads that are under way, other than those for callers, and each later one at once. */
  endReads(): void
  cutOff(): Promise<void>
}

/** The ledger applies only one write per key. */
export type Writer = { ledger: Pick<Ledger, 'read' | 'write'>; key: string }

export function openLedger(
  settings: LedgerSettings,
  during: <T>(call: () => Promise<T>) => Promise<T> = call => call(),
  isLoginFoundRight: (withinMs: number) => Promise<boolean> = async () => false,
): Ledger {
  const sender = openSender(settings)
  const callersSender = openSender({ ...settings, LEDGER_CONCURRENCY: READS_FOR_CALLERS })
  const listeners: Listener[] = []
  const answered = answering(during, listeners)
  const login = openLedgerLogin(isLoginFoundRight)
  const breaker = openBreaker(login.refusal)
  const call = guarding(breaker, login, (request, kind) => answered(request, kind, sender))
  const reads = new AbortController()

  return {
    async read<Body>(path: LedgerPath, trace?: Trace) {
      const request: Request = { method: 'GET', path, signal: reads.signal }
      return reading<Body>(await call(request, classifyRead, trace))
    },
    forCaller: signal => ({
      async read<Body>(path: LedgerPath) {
        const request: Request = { method: 'GET', path, signal }
        const ask = () => answered(request, classifyRead, callersSender)
        return reading<Body>(await login.guard(ask, request))
      },
    }),
    write({ promisedId, named, changed, isApplication, ...request }, trace) {
      const sent = request.body as Promised['sent']
      const promised = { promisedId, named, changed, sent, ...(isApplication && { isApplication }) }
      return call(request, received => classifyWrite(received, promised), trace)
    },
    async probe() {
      const probe = call({ ...MINIMAL, signal: reads.signal }, classifyRead)
      const { outcome } = await breaker.untilAnsweredOrReachable(probe)
      return outcome === 'done'
    },
    async abandonHungCalls(ms) {
      if (!sender.hasHung(ms) || !(await answersOnNewConnection(settings))) return false
      sender.reconnect()
      breaker.reached()
      return true
    },
    breaker,
    login,
    onAnswer: listener => void listeners.push(listener),
    close: async () => void (await Promise.all([sender.close(), callersSender.close()])),
    endReads: () => reads.abort(),
    cutOff: async () => void (await Promise.all([sender.cutOff(), callersSender.cutOff()])),
  }
}

function answering(during: <T>(call: () => Promise<T>) => Promise<T>, listeners: Listener[]) {
  return async (request: Request, kind: KindOf, over: Sender): Promise<Answer> => {
    const { method, path } = request
    const answer = await during(() => over.send(request)).then(
      received => answerFrom(request, received, kind(received)),
      error => ({ method, path, ...unanswered(error, request) }),
    )
    for (const listener of listeners) listener(answer)
    return answer
  }
}

/** Sends no request while the breaker is open or the login refused, and traces each one that is sent. */
function guarding(
  breaker: Breaker,
  login: LedgerLogin,
  send: (request: Request, kind: KindOf) => Promise<Answer>,
) {
  return (request: Request, kind: KindOf, trace?: Trace): Promise<Answer> => {
    const traced = () =>
      traceLedgerCall(trace, request, traceparent => send({ ...request, traceparent }, kind))
    const unsent = () => notSent(request, 'not_arrived', breaker.whyOpen())
    return login.guard(() => breaker.guard(traced, unsent, request.method !== 'GET'), request)
  }
}

function reading<Body>(answer: Answer): Reading<Body> {
  if (answer.outcome === 'refused' && isRefusalOfAnother(answer))
    throw new LedgerTrouble({ ...answer, outcome: 'not_arrived', message: ANOTHER_CALLS_ANSWER })
  if (answer.outcome !== 'done' && answer.outcome !== 'refused') throw new LedgerTrouble(answer)
  return answer as Reading<Body>
}

const ANOTHER_CALLS_ANSWER = 'the answer is about another call than this one'

async function answersOnNewConnection(settings: LedgerSettings): Promise<boolean> {
  const limits = { LEDGER_TIMEOUT_MS: NEW_CONNECTION_ANSWERS_WITHIN_MS, LEDGER_CONCURRENCY: 1 }
  const sender = openSender({ ...settings, ...limits })
  const answers = await sender.send(MINIMAL).then(
    () => true,
    () => false,
  )
  await sender.cutOff()
  return answers
}

function answerFrom({ method, path }: Request, received: Received, kind: AnswerKind): Answer {
  return {
    method,
    path,
    status: received.status,
    body: received.body,
    isRecorded: false,
    isFromStore: received.isFromStore,
    leftNothing: method === 'GET',
    code: codeOf(received.body),
    retryAfterMs: received.retryAfterMs,
    message: explained(received, kind),
    ...kind,
  }
}

type KindOf = (received: Received) => AnswerKind
type Listener = (answer: Answer) => void
type Sender = ReturnType<typeof openSender>

function traceLedgerCall(
  trace: Trace | undefined,
  { method, path }: Request,
  call: (traceparent: string | null) => Promise<Answer>,
): Promise<Answer> {
  if (trace === undefined) return call(null)
  const [, resource = ''] = path.split(/[/?]/)
  const attributes = { 'http.request.method': method, 'loanops.ledger.resource': resource }
  return tracedCall(trace, { name: `ledger ${method} ${resource}`, attributes }, call)
}
