import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleWhenResult,
  type IBackoff,
  type IBackoffFactory,
} from 'cockatiel'
import { type Answer, isDown, NOTHING_WRITTEN } from '../answers/answer.ts'
import { openFailures } from '../answers/failures.ts'
import type { LedgerLogin } from './login.ts'

/** One lost answer is an accident; this many in a row, across all loans, are an outage. */
const FAILURES_TO_OPEN = 5
const FIRST_PROBE_MS = 500
/** An outage may last hours; its end is noticed within this time. */
const MAX_BETWEEN_PROBES_MS = 5_000

/** Keeps thousands of waiting operations from calling a ledger that is down: one probe at a time is enough. */
export type Breaker = {
  guard(call: () => Promise<Answer>, unsent: () => Answer, isWrite: boolean): Promise<Answer>
  /** Resolves with the call, or as soon as the call hangs and another call shows that the ledger answers. */
  untilAnsweredOrReachable(call: Promise<Answer>): Promise<Answer>
  reached(): void
  /** Notes the answer that decided an attempt: a ledger that fails for loan after loan counts as down. */
  note(subject: string, answer: Answer): void
  isOpen(): boolean
  whyOpen(): string
  /** A probe cannot tell whether operations would still fail: a few of them are tried as a test. */
  isRecoveryTestDue(): boolean
  state(): { circuit: 'closed' | 'open' | 'half_open'; last_error: string | null }
}

const NAMES = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.Open]: 'open',
  [CircuitState.HalfOpen]: 'half_open',
  [CircuitState.Isolated]: 'open',
} as const

const REACHED: Answer = {
  ...NOTHING_WRITTEN,
  method: 'GET',
  path: '',
  status: 200,
  outcome: 'done',
  message: 'the ledger answers',
}

export function openBreaker(refusal: LedgerLogin['refusal']): Breaker {
  const policy = openPolicy()
  const failures = openFailures()
  const waiting = new Set<(answer: Answer) => void>()
  let lastError: string | null = null
  const isClosed = () => policy.state === CircuitState.Closed && refusal() === null

  return {
    async guard(call, unsent, isWrite) {
      // A write that waited for the call that tests the ledger could lose its permission meanwhile.
      if (isWrite && policy.state === CircuitState.HalfOpen) return unsent()
      try {
        let called: Promise<Answer> | undefined
        await policy.execute(() => {
          called = call()
          // While the circuit is half open, all other calls wait for this one.
          return untilAnsweredOrReachable(called)
        })
        const answer = await (called as Promise<Answer>)
        lastError = isDown(answer) || answer.outcome === 'misconfigured' ? answer.message : null
        return answer
      } catch (error) {
        if (!(error instanceof BrokenCircuitError)) throw error
        return unsent()
      }
    },
    untilAnsweredOrReachable,
    reached: () => void [...waiting].map(resolve => resolve(REACHED)),
    note: failures.note,
    isOpen: () => !isClosed() || failures.isOutage(),
    isRecoveryTestDue: () => isClosed() && failures.isRecoveryTestDue(),
    whyOpen: () => refusal() ?? whyDown(state()),
    state,
  }

  function state(): ReturnType<Breaker['state']> {
    if (refusal() !== null) return { circuit: 'open', last_error: refusal() }
    return policy.state === CircuitState.Closed && failures.isOutage()
      ? { circuit: 'open', last_error: failures.lastError() }
      : { circuit: NAMES[policy.state], last_error: lastError }
  }

  function untilAnsweredOrReachable(call: Promise<Answer>): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    waiting.add(resolve)
    call.then(resolve, reject).finally(() => waiting.delete(resolve))
    return promise
  }
}

const whyDown = ({ last_error }: ReturnType<Breaker['state']>): string =>
  last_error === null ? 'the ledger is down' : `the ledger is down: ${last_error}`

function openPolicy() {
  return circuitBreaker(
    handleWhenResult(answer => isDown(answer as Answer)),
    {
      breaker: new ConsecutiveBreaker(FAILURES_TO_OPEN),
      halfOpenAfter: whateverTheClock(
        new ExponentialBackoff({ initialDelay: FIRST_PROBE_MS, maxDelay: MAX_BETWEEN_PROBES_MS }),
      ),
    },
  )
}

/** Cockatiel counts by the system's clock: set back by an hour, it would keep this process from the ledger for so long. */
function whateverTheClock<T>(backoffs: IBackoffFactory<T>): IBackoffFactory<T> {
  return {
    next(context): IBackoff<T> {
      const backoff = backoffs.next(context)
      const since = performance.now()
      const isOver = () => performance.now() - since >= backoff.duration
      return {
        ...whateverTheClock(backoff),
        get duration() {
          return isOver() ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
        },
      }
    },
  }
}
