import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleWhenResult,
} from 'cockatiel'
import type { Answer } from './answer.ts'

/** One lost answer is an accident; so many in a row, over all loans, are an outage. */
const FAILURES_TO_OPEN = 5
const FIRST_PROBE_MS = 500
/** An outage may take hours; its end is seen within so long. */
const MAX_BETWEEN_PROBES_MS = 5_000

/** Keeps thousands of waiting operations from knocking at a ledger that is down: one probe at a time is enough. */
export type Breaker = {
  /** Makes the call, or, while the ledger is down, answers at once that nothing was sent. */
  guard(call: () => Promise<Answer>, unsent: () => Answer): Promise<Answer>
  isOpen(): boolean
  state(): { circuit: 'closed' | 'open' | 'half_open'; last_error: string | null }
}

const NAMES = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.Open]: 'open',
  [CircuitState.HalfOpen]: 'half_open',
  [CircuitState.Isolated]: 'open',
} as const

export function openBreaker(): Breaker {
  const policy = circuitBreaker(
    handleWhenResult(answer => isDown(answer as Answer)),
    {
      breaker: new ConsecutiveBreaker(FAILURES_TO_OPEN),
      halfOpenAfter: new ExponentialBackoff({
        initialDelay: FIRST_PROBE_MS,
        maxDelay: MAX_BETWEEN_PROBES_MS,
      }),
    },
  )
  let lastError: string | null = null

  return {
    async guard(call, unsent) {
      try {
        const answer = await policy.execute(call)
        lastError = isDown(answer) || answer.outcome === 'misconfigured' ? answer.message : null
        return answer
      } catch (error) {
        if (!(error instanceof BrokenCircuitError)) throw error
        return unsent()
      }
    },
    isOpen: () => policy.state !== CircuitState.Closed,
    state: () => ({ circuit: NAMES[policy.state], last_error: lastError }),
  }
}

/** Speaks of the ledger as a whole, not of one call: no answer, or one of something that stands before it. */
function isDown({ status, outcome }: Answer): boolean {
  return outcome !== 'refused' && (status === null || [429, 502, 503, 504].includes(status))
}
