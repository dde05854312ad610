import { Type } from '@sinclair/typebox'
import { askerOf } from '../../accounts/access/actor.ts'
import { read, toRead } from '../../accounts/access/needs.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { limitConcurrent } from '../../http/connections/connections.ts'
import { oneOf, only, titled } from '../../http/fields/schemas.ts'
import { listAnswer, listQuery, named } from '../../http/lists/list-query.ts'
import { kindQuery, Payment, PaymentParams } from '../payment-record.ts'
import { etagOf } from '../precondition.ts'
import { auditBodies } from './audit-bodies.ts'
import { findAttempts } from './find-attempts.ts'
import { findEvents } from './find-events.ts'
import { findPayments, readNamedPayment } from './find-payments.ts'
import { PaymentWithHistory } from './history-record.ts'
import { paymentFilter } from './payment-filter.ts'
import { PaymentTotal, summarizePayments } from './summarize-payments.ts'

/** Such an answer has megabytes, which stay in memory until its caller has read them. */
const MAX_WITH_BODIES = 16
const WITH_BODIES_OF_ONE = 8
const limitBodies = limitConcurrent(
  MAX_WITH_BODIES,
  'reads of bodies are in progress',
  WITH_BODIES_OF_ONE,
)

const listSchema = {
  operationId: 'listPayments',
  summary:
    'Lists payments, refunds and chargebacks, newest first; with from or to by the time of payment',
  querystring: only({ ...paymentFilter, ...listQuery('payments', 'uuid') }),
  response: listAnswer('payments', Payment, 'PaymentList'),
}
const summarySchema = {
  operationId: 'summarizePayments',
  summary: 'Counts payments, refunds and chargebacks and adds up their amounts',
  querystring: only(paymentFilter),
  response: { 200: titled('PaymentSummary', { totals: Type.Array(PaymentTotal) }) },
}
const historySchema = {
  operationId: 'getPayment',
  summary: 'Returns a payment with its events, newest first, and each attempt to post it',
  params: PaymentParams,
  querystring: only({
    ...kindQuery.properties,
    bodies: Type.Optional(oneOf(['true', 'false'])),
    cursor: listQuery('events', 'bigint', 'uuid', 'name').cursor,
  }),
  response: {
    200: {
      ...PaymentWithHistory,
      headers: { ETag: { type: 'string', description: 'to be sent as If-Match with a decision' } },
    },
  },
}

type Context = { forReads: Database; config: Config }

export async function paymentRoutes(app: App, { forReads: db, config }: Context): Promise<void> {
  app.get('/payments', toRead(listSchema), async ({ query }) =>
    named('payments', await findPayments(db, query, config.LEDGER_TIMEZONE)),
  )

  app.get('/payments/summary', toRead(summarySchema), request =>
    summarizePayments(db, request.query, config.LEDGER_TIMEZONE),
  )

  app.get(
    '/payments/:gateway/:gateway_payment_id',
    {
      schema: historySchema,
      config: read,
      async preHandler(request, reply) {
        if (request.query.bodies === 'true') await limitBodies(request, reply)
      },
    },
    async (request, reply) => {
      const { gateway, gateway_payment_id: paymentId } = request.params
      const { bodies, ...query } = request.query
      const withBodies = bodies === 'true'
      const { id, version, payment } = await readNamedPayment(db, { gateway, paymentId, ...query })
      if (withBodies) await auditBodies(db, askerOf(request), payment)
      const [page, attempts] = await Promise.all([
        findEvents(db, payment, { ...query, withBodies }),
        findAttempts(db, id),
      ])
      reply.header('etag', etagOf(version))
      return { payment, ...page, attempts }
    },
  )
}
