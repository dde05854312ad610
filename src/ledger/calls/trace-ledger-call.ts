import type { Trace } from '../../ops/traces/traces.ts'
import type { Answer } from '../answers/answer.ts'
import type { Request } from './send.ts'

export function traceLedgerCall(
  trace: Trace | undefined,
  { method, path }: Request,
  call: (traceparent: string | null) => Promise<Answer>,
): Promise<Answer> {
  if (trace === undefined) return call(null)
  const [, resource = ''] = path.split(/[/?]/)
  const attributes = { 'http.request.method': method, 'loanops.ledger.resource': resource }
  const part = { name: `ledger ${method} ${resource}`, isCall: true, attributes }
  return trace.span(part, async (inside, note) => {
    const answer = await call(inside.traceparent)
    note({
      ...(answer.status === null ? {} : { 'http.response.status_code': answer.status }),
      'loanops.outcome': answer.outcome,
    })
    return answer
  })
}
