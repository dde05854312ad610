import type { Trace, Traces } from '../../ops/traces/traces.ts'
import type { Claim } from '../claim/claim.ts'
import type { Ended } from '../finish/finish.ts'
import { trackingId } from '../operation.ts'

export function traceAttempt(
  traces: Traces,
  claim: Claim,
  attempt: (trace: Trace) => Promise<Ended>,
): Promise<Ended> {
  const { number, operationType, origin, traceparent, acceptedAt, claimedAt } = claim
  // A batch has thousands of payments: each has a trace of its own, with a link to the batch's.
  const trace = origin === 'api' ? traces.at(traceparent) : traces.linkedTo(traceparent)
  const attributes = {
    'loanops.tracking_id': trackingId(claim),
    'loanops.origin': origin,
    'loanops.attempt': number,
  }
  if (number === 1) trace.past({ name: `wait ${operationType}`, attributes }, acceptedAt, claimedAt)
  return trace.span({ name: `attempt ${operationType}`, attributes }, async (inside, note) => {
    const ended = await attempt(inside)
    note({ 'loanops.status': ended.decision.status })
    return ended
  })
}
