import { askerOf } from '../../accounts/access/actor.ts'
import { toOperate } from '../../accounts/access/needs.ts'
import { actRoutes } from '../../accounts/approvals/act-routes.ts'
import { Proposal } from '../../accounts/approvals/approval-record.ts'
import type { ForApprovals } from '../../accounts/approvals/perform.ts'
import type { App } from '../../http/app.ts'
import { titledBody } from '../../http/fields/schemas.ts'
import { Note } from '../../http/fields/text-fields.ts'
import { bodyIsCheckedLater } from '../../http/validator.ts'
import { kindQuery, Payment, PaymentParams } from '../payment-record.ts'
import { IfMatch, PRECONDITION_REFUSALS } from '../precondition.ts'
import { readNamedPayment } from '../reading/find-payments.ts'
import { noteOn } from './note.ts'
import { paymentCalls } from './payment-calls.ts'
import { PaymentResolution, resolutionValidator } from './resolution.ts'

const resolveSchema = {
  operationId: 'resolvePayment',
  'x-refusals': ['CONFLICT', ...PRECONDITION_REFUSALS],
  summary:
    'Decides what becomes of what is in suspense, clears the objection to what is posted, reopens what was decided, or books a refund or chargeback; later events do not change a decision',
  params: PaymentParams,
  querystring: kindQuery,
  headers: IfMatch,
  body: PaymentResolution,
  response: { 200: Payment, 202: Proposal },
}
const noteSchema = {
  operationId: 'notePayment',
  summary: 'Saves a note for other operators, which ops.suspense shows with its author',
  params: PaymentParams,
  querystring: kindQuery,
  body: titledBody('NotePaymentRequest', { note: Note }),
  response: { 200: Payment },
}

type Context = ForApprovals & Parameters<typeof paymentCalls>[0]

export function resolveRoutes(app: App, context: Context): void {
  const { db } = context
  const { resolveCall } = paymentCalls(context)
  const resolutionOf = resolutionValidator()

  actRoutes(app, context).post(
    '/payments/:gateway/:gateway_payment_id/resolve',
    resolveSchema,
    resolveCall,
    {
      validatorCompiler: bodyIsCheckedLater,
      asked: ({ params, query, headers, body }) => ({
        ...params,
        ...query,
        if_match: headers['if-match'],
        ...resolutionOf(body),
      }),
    },
  )

  app.post('/payments/:gateway/:gateway_payment_id/note', toOperate(noteSchema), async request => {
    const { gateway, gateway_payment_id: paymentId } = request.params
    const name = { gateway, paymentId, ...request.query }
    const { kind } = await noteOn(db, name, request.body.note, askerOf(request))
    return (await readNamedPayment(db, { ...name, kind })).payment
  })
}
