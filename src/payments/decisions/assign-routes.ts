import { Type } from '@sinclair/typebox'
import { actRoutes } from '../../accounts/approvals/act-routes.ts'
import { Proposal } from '../../accounts/approvals/approval-record.ts'
import type { ForApprovals } from '../../accounts/approvals/perform.ts'
import { itemAnswer } from '../../http/answer-each.ts'
import type { App } from '../../http/app.ts'
import { oneOf, optional, titled, titledBody } from '../../http/fields/schemas.ts'
import { TAKE, trimText } from '../../http/fields/take-values.ts'
import { ExternalId, WITHOUT_NUL } from '../../http/fields/text-fields.ts'
import { Payment, PaymentParams } from '../payment-record.ts'
import { IfMatch, PRECONDITION_REFUSALS } from '../precondition.ts'
import { REFERENCE_KINDS } from '../references/reference-record.ts'
import { paymentCalls } from './payment-calls.ts'

const MAX_ASSIGNMENTS = 200

const anyText = (description: string, example: string) =>
  Type.String({ pattern: WITHOUT_NUL, description, examples: [example] })
const Remember = optional(
  Type.Array(oneOf(REFERENCE_KINDS), {
    maxItems: REFERENCE_KINDS.length,
    description: `a list of kinds (${REFERENCE_KINDS.join(', ')}): the payment’s own references of these are stored for the loan`,
  }),
)
const Assignment = titledBody('Assignment', {
  gateway: anyText('a gateway’s name', 'gateway_a'),
  gateway_payment_id: anyText('a payment’s id', 'pay_1'),
  external_loan_id: { ...anyText('an external id', 'L-1001'), [TAKE]: trimText },
  remember: Remember,
})
const assignEachSchema = {
  operationId: 'assignPayments',
  summary: 'Assigns several payments, each as in a call of its own, in order',
  body: titledBody('AssignPaymentsRequest', {
    assignments: Type.Array(Assignment, {
      minItems: 1,
      maxItems: MAX_ASSIGNMENTS,
      description: `a list of 1 to ${MAX_ASSIGNMENTS} assignments`,
    }),
  }),
  response: {
    200: titled('AssignmentResults', {
      results: Type.Array(
        titled('AssignmentResult', {
          gateway: Type.String(),
          gateway_payment_id: Type.String(),
          ...itemAnswer,
        }),
      ),
    }),
    202: Proposal,
  },
}
const assignSchema = {
  operationId: 'assignPayment',
  'x-refusals': ['CONFLICT', ...PRECONDITION_REFUSALS],
  summary: 'Takes a payment out of suspense, to be posted to that loan by the next batch',
  params: PaymentParams,
  headers: IfMatch,
  body: titledBody('AssignPaymentRequest', { external_loan_id: ExternalId, remember: Remember }),
  response: { 200: Payment, 202: Proposal },
}

type Context = ForApprovals & Parameters<typeof paymentCalls>[0]

export function assignRoutes(app: App, context: Context): void {
  const { assignCall, assignEachCall } = paymentCalls(context)
  const act = actRoutes(app, context)
  act.post('/payments/assign', assignEachSchema, assignEachCall)

  act.post('/payments/:gateway/:gateway_payment_id/assign', assignSchema, assignCall, {
    asked: ({ params, body, headers }) => ({ ...params, ...body, if_match: headers['if-match'] }),
  })
}
