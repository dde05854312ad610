import type { SpanPart, Trace } from './traces.ts'

/** A call to another system in a span of its own, which gets the status and the outcome of its answer. */
export function tracedCall<Answer extends { status: number | null; outcome: string }>(
  trace: Trace,
  part: Omit<SpanPart, 'isCall'>,
  call: (traceparent: string | null) => Promise<Answer>,
): Promise<Answer> {
  return trace.span({ ...part, isCall: true }, async (inside, note) => {
    const answer = await call(inside.traceparent)
    note({
      ...(answer.status === null ? {} : { 'http.response.status_code': answer.status }),
      'loanops.outcome': answer.outcome,
    })
    return answer
  })
}
