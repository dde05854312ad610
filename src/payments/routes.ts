import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { askerOf } from '../accounts/actor.ts'
import type { Database } from '../database/database.ts'
import { closed, ExternalId, nullable, oneOf } from '../http/fields.ts'
import { listQuery } from '../http/list-query.ts'
import { NotFound } from '../http/problem.ts'
import { assign } from './assign.ts'
import { findAttempts, findEvents } from './find-history.ts'
import { findPayment, findPayments } from './find-payments.ts'
import { GATEWAYS } from './gateways/gateways.ts'
import { KINDS, Payment, PaymentWithHistory, STATES } from './payment-record.ts'

const tags = ['payments']
const params = Type.Object({
  gateway: Type.String({ examples: ['gateway_a'] }),
  gateway_payment_id: Type.String({
    pattern: '^[^\\u0000]+$',
    description: 'a payment’s id',
    examples: ['pay_1'],
  }),
})

const listSchema = {
  operationId: 'listPayments',
  tags,
  summary: 'Lists payments, refunds and chargebacks, newest first',
  querystring: Type.Object(
    {
      // As an event named it, also where no loan can have that name.
      loan: Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000]*$' })),
      state: Type.Optional(oneOf(STATES)),
      gateway: Type.Optional(oneOf(GATEWAYS)),
      ...listQuery('uuid'),
    },
    closed,
  ),
  response: {
    200: Type.Object({ payments: Type.Array(Payment), next_cursor: nullable(Type.String()) }),
  },
}
const historySchema = {
  operationId: 'getPayment',
  tags,
  summary: 'Returns a payment with each of its events and each attempt to post it',
  params,
  querystring: Type.Object({ kind: Type.Optional(oneOf(KINDS)) }, closed),
  response: { 200: PaymentWithHistory },
}
const assignSchema = {
  operationId: 'assignPayment',
  'x-refusals': ['CONFLICT'],
  tags,
  summary: 'Takes a payment out of suspense, to be posted to that loan by the next batch',
  params,
  body: Type.Object({ external_loan_id: ExternalId }, closed),
  response: { 200: Payment },
}

/** What became of each payment, and the way out of suspense. */
export function paymentRoutes({ db }: { db: Database }): FastifyPluginAsyncTypebox {
  return async app => {
    app.get('/payments', { schema: listSchema }, request => findPayments(db, request.query))

    app.get('/payments/:gateway/:gateway_payment_id', { schema: historySchema }, async request => {
      const { gateway, gateway_payment_id: paymentId } = request.params
      const { id, payment } = await foundPayment({ gateway, paymentId, ...request.query })
      const [events, attempts] = await Promise.all([findEvents(db, id), findAttempts(db, id)])
      return { payment, events, attempts }
    })

    app.post(
      '/payments/:gateway/:gateway_payment_id/assign',
      { schema: assignSchema },
      async request => {
        const { gateway, gateway_payment_id: paymentId } = request.params
        const asker = await askerOf(request)
        await assign(db, { gateway, paymentId, loan: request.body.external_loan_id, asker })
        return (await foundPayment({ gateway, paymentId, kind: 'payment' })).payment
      },
    )
  }

  async function foundPayment(wanted: Parameters<typeof findPayment>[1]) {
    const found = await findPayment(db, wanted)
    if (found === undefined)
      throw new NotFound(`There is no payment ${wanted.paymentId} of ${wanted.gateway}`)
    return found
  }
}
