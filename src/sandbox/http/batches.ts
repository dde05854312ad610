import type { Body } from '../fields/body.ts'
import type { Ledger } from '../storage/ledger.ts'
import { refusalAnswer } from './answer.ts'
import type { Plan, Request } from './plan.ts'
import { containerError } from './refusal.ts'
import { onlyFields } from './wire.ts'

type PlanOf = (ledger: Ledger, request: Request) => Plan

/** Reads only: LoanOps sends no batches. */
export function planForBatches(ledger: Ledger, request: Request, planOf: PlanOf): Plan {
  if (request.path.length > 0) throw containerError(404)
  if (request.method !== 'POST') throw containerError(405)
  const run = (items: Body[]) => items.map(item => answerOf(ledger, request, item, planOf))
  return { kind: 'list', name: 'batch', run }
}

function answerOf(ledger: Ledger, { caller }: Request, item: Body, planOf: PlanOf) {
  const { requestId, method, relativeUrl } = item
  const { pathname, searchParams: query } = new URL(String(relativeUrl), 'http://ledger/')
  const path = pathname
    .replace(/^\/(v1\/)?/, '')
    .split('/')
    .map(decodeURIComponent)
  if (method !== 'GET') {
    return {
      requestId,
      statusCode: 501,
      body: 'The sandbox ledger supports reads only in batches.',
    }
  }
  try {
    const plan = planOf(ledger, { method, path, query, caller })
    const body = plan.kind === 'read' ? onlyFields(plan.run(), query.get('fields')) : {}
    return { requestId, statusCode: 200, body: JSON.stringify(body) }
  } catch (error) {
    const { status, text } = refusalAnswer(error, pathname)
    return { requestId, statusCode: status, body: text }
  }
}
