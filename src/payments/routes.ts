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
  gateway: Type.String(),
  gateway_payment_id: Type.String({ pattern: '^[^\\u0000]+$', description: 'a payment’s id' }),
})

/** What became of each payment, and the way out of suspense. */
export function paymentRoutes(db: Database): FastifyPluginAsyncTypebox {
  return async app => {
    app.get(
      '/payments',
      {
        schema: {
          tags,
          summary: 'Lists payments, refunds and chargebacks, newest first',
          querystring: Type.Object(
            {
              // Whatever an event named, also what can be no loan's name.
              loan: Type.Optional(
                Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000]*$' }),
              ),
              state: Type.Optional(oneOf(STATES)),
              gateway: Type.Optional(oneOf(GATEWAYS)),
              ...listQuery,
            },
            closed,
          ),
          response: {
            200: Type.Object({
              payments: Type.Array(Payment),
              next_cursor: nullable(Type.String()),
            }),
          },
        },
      },
      request => findPayments(db, request.query),
    )

    app.get(
      '/payments/:gateway/:gateway_payment_id',
      {
        schema: {
          tags,
          summary: 'Tells a payment with every event that spoke of it and every attempt to book it',
          params,
          querystring: Type.Object({ kind: Type.Optional(oneOf(KINDS)) }, closed),
          response: { 200: PaymentWithHistory },
        },
      },
      async request => {
        const { gateway, gateway_payment_id: paymentId } = request.params
        const found = await findPayment(db, { gateway, paymentId, ...request.query })
        if (found === undefined)
          throw new NotFound(`There is no payment ${paymentId} of ${gateway}`)
        const [events, attempts] = await Promise.all([
          findEvents(db, found.id),
          findAttempts(db, found.id),
        ])
        return { payment: found.payment, events, attempts }
      },
    )

    app.post(
      '/payments/:gateway/:gateway_payment_id/assign',
      {
        schema: {
          tags,
          summary: 'Takes a payment out of suspense, to be posted on that loan by the next batch',
          params,
          body: Type.Object({ external_loan_id: ExternalId }, closed),
          response: { 200: Payment },
        },
      },
      async request => {
        const { gateway, gateway_payment_id: paymentId } = request.params
        const asker = await askerOf(request)
        await assign(db, { gateway, paymentId, loan: request.body.external_loan_id, asker })
        const found = await findPayment(db, { gateway, paymentId, kind: 'payment' })
        if (found === undefined)
          throw new NotFound(`There is no payment ${paymentId} of ${gateway}`)
        return found.payment
      },
    )
  }
}
