import { tracedCall } from '../../ops/traces/traced-call.ts'
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
  return tracedCall(trace, { name: `ledger ${method} ${resource}`, attributes }, call)
}
