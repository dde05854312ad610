import { Type } from '@sinclair/typebox'
import { askerOf } from '../../accounts/access/actor.ts'
import { toOperate } from '../../accounts/access/needs.ts'
import type { App } from '../../http/app.ts'
import { NullableText, oneOf, titled } from '../../http/fields/schemas.ts'
import type { CheckContext } from './check-and-save.ts'
import { openCheckNow } from './check-now.ts'
import { checksFor } from './checks.ts'
import { STEPS } from './connection.ts'
import { FINDING_STATES } from './finding.ts'
import { reportOf } from './report.ts'
import { savedFindings } from './saved-findings.ts'

const Finding = titled('LedgerFinding', {
  check: oneOf([...new Set([...STEPS, ...checksFor([]).map(({ check }) => check)])]),
  lender: NullableText,
  state: oneOf(FINDING_STATES),
  found: Type.String(),
  expected: Type.String(),
  remedy: NullableText,
})
const Report = titled('LedgerCheck', {
  checked_at: NullableText,
  version: NullableText,
  findings: Type.Array(Finding),
})
const checkSchema = {
  operationId: 'checkLedger',
  summary: 'Compares the ledger’s set-up with what LoanOps needs, by reads alone',
  response: { 200: Report },
}
const lastSchema = {
  operationId: 'getLedgerCheck',
  summary: 'What the last check of the ledger’s set-up found',
  response: { 200: Report },
}

export function ledgerCheckRoutes(app: App, context: CheckContext): void {
  const { db } = context
  const checkNow = openCheckNow(context)

  app.post('/ledger/check', toOperate(checkSchema), async request => {
    await checkNow(askerOf(request))
    return last()
  })

  app.get('/ledger/check', { schema: lastSchema, config: { needs: 'any' } }, last)

  async function last() {
    const { findings, checkedAt } = await savedFindings(db)
    return reportOf(findings, checkedAt)
  }
}
