import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { askerAs } from '../../accounts/actor.ts'
import { auditAlone } from '../../accounts/audit.ts'
import { checkPayment } from '../../books/check-payment.ts'
import { dayOfIso, dayText } from '../../day.ts'
import { closed, ExternalId, Note } from '../../http/fields.ts'
import { assign } from '../../payments/assign.ts'
import { noteOn } from '../../payments/note.ts'
import { kindQuery, PaymentParams as params } from '../../payments/payment-record.ts'
import { resolutionValidator } from '../../payments/resolution.ts'
import { resolve } from '../../payments/resolve.ts'
import { type Done, donePath } from '../frame/notice.ts'
import type { PageContext } from '../page-context.ts'
import { paymentPath } from './payments-page.ts'

const text = Type.Optional(Type.String({ maxLength: 1_000 }))
const assignSchema = {
  params,
  querystring: kindQuery,
  body: Type.Object({ external_loan_id: ExternalId, note: Type.Optional(Note) }, closed),
}
/** Only read as far as the outcome needs; that checks the values. */
const Decision = Type.Object(
  {
    outcome: text,
    note: text,
    external_loan_id: text,
    amount: text,
    paid_on: text,
    ledger_transaction_id: text,
  },
  closed,
)
const resolveSchema = { params, querystring: kindQuery, body: Decision }
const noteSchema = { params, querystring: kindQuery, body: Type.Object({ note: Note }, closed) }
const checkSchema = { params, querystring: kindQuery }

type Params = Static<typeof params>
type Query = Static<typeof kindQuery>

/** What operators decide about a payment. */
export function paymentActions(context: PageContext): FastifyPluginAsyncTypebox {
  const { db, ledger } = context
  const resolutionOf = resolutionValidator()
  return async app => {
    app.post(
      '/payments/:gateway/:gateway_payment_id/assign',
      { schema: assignSchema },
      async (request, reply) => {
        const { external_loan_id: loan, note } = request.body
        const name = nameOf(request.params, request.query)
        await assign(db, { ...name, loan, note, asker: askerFor(request) })
        return reply.redirect(back(request.params, request.query, 'assigned'), 303)
      },
    )

    app.post(
      '/payments/:gateway/:gateway_payment_id/resolve',
      { schema: resolveSchema },
      async (request, reply) => {
        const resolution = resolutionOf(fieldsOf(request.body))
        await resolve(
          db,
          ledger,
          nameOf(request.params, request.query),
          resolution,
          askerFor(request),
        )
        return reply.redirect(back(request.params, request.query, 'decided'), 303)
      },
    )

    app.post(
      '/payments/:gateway/:gateway_payment_id/note',
      { schema: noteSchema },
      async (request, reply) => {
        await noteOn(
          db,
          nameOf(request.params, request.query),
          request.body.note,
          askerFor(request),
        )
        return reply.redirect(back(request.params, request.query, 'noted'), 303)
      },
    )

    app.post(
      '/payments/:gateway/:gateway_payment_id/check',
      { schema: checkSchema },
      async (request, reply) => {
        const { gateway, gateway_payment_id } = request.params
        await checkPayment(context, nameOf(request.params, request.query))
        const subject = `${gateway}/${gateway_payment_id}`
        await auditAlone(db, { ...askerFor(request), action: 'payment.check', subject })
        return reply.redirect(back(request.params, request.query, 'checked'), 303)
      },
    )
  }
}

const askerFor = (request: FastifyRequest) => askerAs(request.user.name, request)

const nameOf = ({ gateway, gateway_payment_id: paymentId }: Params, query: Query) => ({
  gateway,
  paymentId,
  ...query,
})

const back = (params: Params, { kind = 'payment' }: Query, done: Done) =>
  donePath(paymentPath({ ...params, kind }), done)

/** One form has the fields of every outcome: those of the others are left out, and text becomes what the API takes. */
function fieldsOf(form: Static<typeof Decision>): object {
  const { outcome, note, external_loan_id, amount, paid_on, ledger_transaction_id } = form
  const isPlain = /^\d{1,13}(\.\d{1,2})?$/.test(amount ?? '')
  const day = dayOfIso(paid_on ?? '')
  const all: Record<string, unknown> = {
    outcome,
    note,
    external_loan_id,
    amount: isPlain ? Number(amount) : amount,
    paid_on: day === undefined ? paid_on : dayText(day),
    ledger_transaction_id,
  }
  const wanted = FIELDS[outcome ?? ''] ?? ['outcome']
  return Object.fromEntries(
    wanted.flatMap(name => (all[name] === undefined ? [] : [[name, all[name]]])),
  )
}

const FIELDS: Record<string, string[]> = {
  post: ['outcome', 'external_loan_id', 'amount', 'paid_on', 'note'],
  handled: ['outcome', 'note', 'external_loan_id', 'ledger_transaction_id'],
  dismiss: ['outcome', 'note'],
}
