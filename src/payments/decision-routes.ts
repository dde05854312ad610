import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import { askerOf } from '../accounts/actor.ts'
import type { Asker } from '../accounts/audit.ts'
import type { Database } from '../database/database.ts'
import { answerEach } from '../http/answer-each.ts'
import { closed, EXTERNAL_ID, ExternalId, Note, nullable } from '../http/fields.ts'
import { FieldErrors } from '../http/problem.ts'
import { validator } from '../http/validator.ts'
import type { Ledger } from '../ledger/client.ts'
import { assign } from './assign.ts'
import { foundPayment } from './find-payments.ts'
import { noteOn } from './note.ts'
import { kindQuery, Payment, PaymentParams } from './payment-record.ts'
import { Resolution, resolutionValidator } from './resolution.ts'
import { resolve } from './resolve.ts'

const MAX_ASSIGNMENTS = 200

const tags = ['payments']
/** Each assignment is checked separately. */
const anyText = (description: string, example: string) =>
  Type.String({ pattern: '^[^\\u0000]*$', description, examples: [example] })
const Assignment = Type.Object(
  {
    gateway: anyText('a gateway’s name', 'gateway_a'),
    gateway_payment_id: anyText('a payment’s id', 'pay_1'),
    external_loan_id: anyText('an external id', 'L-1001'),
  },
  closed,
)
const assignEachSchema = {
  operationId: 'assignPayments',
  tags,
  summary: 'Assigns several payments, each as a call of its own would, in order',
  body: Type.Object(
    {
      assignments: Type.Array(Assignment, {
        minItems: 1,
        maxItems: MAX_ASSIGNMENTS,
        description: `a list of 1 to ${MAX_ASSIGNMENTS} assignments`,
      }),
    },
    closed,
  ),
  response: {
    200: Type.Object({
      results: Type.Array(
        Type.Object({
          gateway: Type.String(),
          gateway_payment_id: Type.String(),
          status: Type.Integer({ description: 'the status that a call of its own would get' }),
          code: nullable(Type.String()),
          detail: nullable(Type.String()),
        }),
      ),
    }),
  },
}
const assignSchema = {
  operationId: 'assignPayment',
  'x-refusals': ['CONFLICT'],
  tags,
  summary: 'Takes a payment out of suspense, to be posted to that loan by the next batch',
  params: PaymentParams,
  body: Type.Object({ external_loan_id: ExternalId }, closed),
  response: { 200: Payment },
}
const resolveSchema = {
  operationId: 'resolvePayment',
  'x-refusals': ['CONFLICT'],
  tags,
  summary:
    'Decides what becomes of what is in suspense, or clears the objection to what is posted; later events do not change it',
  params: PaymentParams,
  querystring: kindQuery,
  body: Resolution,
  response: { 200: Payment },
}
const noteSchema = {
  operationId: 'notePayment',
  tags,
  summary: 'Keeps a note for other operators, which ops.suspense shows with its author',
  params: PaymentParams,
  querystring: kindQuery,
  body: Type.Object({ note: Note }, closed),
  response: { 200: Payment },
}

type Context = { db: Database; ledger: Ledger }

/** What operators decide about payments: the ways out of suspense. */
export function decisionRoutes({ db, ledger }: Context): FastifyPluginAsyncTypebox {
  const resolutionOf = resolutionValidator()

  return async app => {
    app.post('/payments/assign', { schema: assignEachSchema }, async request => {
      const { assignments } = request.body
      const asker = await askerOf(request)
      const answers = await answerEach(request, assignments, 200, one => assignAlone(one, asker))
      const results = assignments.map(({ gateway, gateway_payment_id }, i) => ({
        gateway,
        gateway_payment_id,
        ...(answers[i] as (typeof answers)[number]),
      }))
      return { results }
    })

    app.post(
      '/payments/:gateway/:gateway_payment_id/assign',
      { schema: assignSchema },
      async request => {
        const { gateway, gateway_payment_id: paymentId } = request.params
        const asker = await askerOf(request)
        await assign(db, { gateway, paymentId, loan: request.body.external_loan_id, asker })
        return (await foundPayment(db, { gateway, paymentId, kind: 'payment' })).payment
      },
    )

    app.post(
      '/payments/:gateway/:gateway_payment_id/resolve',
      {
        schema: resolveSchema,
        // The outcome that the body names checks it, not this union of all.
        validatorCompiler: part => (part.httpPart === 'body' ? () => true : validator(part)),
      },
      async request => {
        const resolution = resolutionOf(request.body)
        const { gateway, gateway_payment_id: paymentId } = request.params
        const name = { gateway, paymentId, ...request.query }
        const { kind } = await resolve(db, ledger, name, resolution, await askerOf(request))
        return (await foundPayment(db, { ...name, kind })).payment
      },
    )

    app.post(
      '/payments/:gateway/:gateway_payment_id/note',
      { schema: noteSchema },
      async request => {
        const { gateway, gateway_payment_id: paymentId } = request.params
        const name = { gateway, paymentId, ...request.query }
        const { kind } = await noteOn(db, name, request.body.note, await askerOf(request))
        return (await foundPayment(db, { ...name, kind })).payment
      },
    )
  }

  async function assignAlone(item: Static<typeof Assignment>, asker: Asker): Promise<void> {
    const { gateway, gateway_payment_id: paymentId, external_loan_id: loan } = item
    if (!EXTERNAL_ID.test(loan)) {
      const message = `must be ${ExternalId.description}`
      throw new FieldErrors('INVALID_PAYLOAD', [{ path: '/external_loan_id', message }])
    }
    await assign(db, { gateway, paymentId, loan, asker })
  }
}
