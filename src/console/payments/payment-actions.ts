import { type Static, Type } from '@sinclair/typebox'
import { askerOf } from '../../accounts/access/actor.ts'
import { toOperate } from '../../accounts/access/needs.ts'
import { checkPayment } from '../../books/readback/check-payment.ts'
import { dayOf } from '../../csv/day-cell.ts'
import type { App } from '../../http/app.ts'
import { only } from '../../http/fields/schemas.ts'
import { ExternalId, Note } from '../../http/fields/text-fields.ts'
import { FieldErrors } from '../../http/problem.ts'
import { noteOn } from '../../payments/decisions/note.ts'
import { paymentCalls } from '../../payments/decisions/payment-calls.ts'
import { membersOf, resolutionValidator } from '../../payments/decisions/resolution.ts'
import { kindQuery, PaymentParams as params } from '../../payments/payment-record.ts'
import { REFERENCE_KINDS } from '../../payments/references/reference-record.ts'
import { trimmed } from '../../text/trimmed.ts'
import { formRoutes } from '../frame/forms/form-routes.ts'
import { type DoneKey, donePath } from '../frame/notice.ts'
import { paymentPath } from '../frame/paths.ts'
import type { PageContext } from '../page-context.ts'

const text = Type.Optional(Type.String({ maxLength: 1_000 }))
const assignSchema = {
  params,
  querystring: kindQuery,
  body: only({
    external_loan_id: ExternalId,
    note: Type.Optional(Note),
    if_match: text,
    // A form has one value per name.
    ...Object.fromEntries(
      REFERENCE_KINDS.map(kind => [`remember_${kind}`, Type.Optional(Type.Literal('true'))]),
    ),
  }),
}
/** Accepts every field; `resolutionOf` validates those that the outcome uses. */
const Decision = only({
  outcome: text,
  note: text,
  external_loan_id: text,
  amount: text,
  paid_on: text,
  ledger_transaction_id: text,
  if_match: text,
})
const resolveSchema = { params, querystring: kindQuery, body: Decision }
/** A refused form, and what was typed before a login, are found again by the form's path: no two of a page share one. */
const DECISION_PATHS = [
  '/payments/:gateway/:gateway_payment_id/resolve',
  '/payments/:gateway/:gateway_payment_id/reverse',
  '/payments/:gateway/:gateway_payment_id/restore',
]
const noteSchema = { params, querystring: kindQuery, body: only({ note: Note }) }
const checkSchema = { params, querystring: kindQuery }

export function paymentActions(app: App, context: PageContext): void {
  const { db } = context
  const { assignCall, resolveCall } = paymentCalls(context)
  const resolutionOf = resolutionValidator()
  const form = formRoutes(app, context)
  form('/payments/:gateway/:gateway_payment_id/assign', assignSchema, assignCall, {
    asked: ({ params, body }) => ({ ...params, ...assignmentIn(body) }),
    done: request => back(request, 'assigned'),
  })

  for (const path of DECISION_PATHS)
    form(path, resolveSchema, resolveCall, {
      asked: ({ params, query, body }) => {
        const resolution = inWordsOfTheForm(() => resolutionOf(fieldsOf(body)))
        return { ...params, ...query, if_match: body.if_match, ...resolution }
      },
      done: request => back(request, 'decided'),
    })

  app.post(
    '/payments/:gateway/:gateway_payment_id/note',
    toOperate(noteSchema),
    async (request, reply) => {
      await noteOn(db, nameOf(request), request.body.note, askerOf(request))
      return reply.redirect(back(request, 'noted'), 303)
    },
  )

  app.post(
    '/payments/:gateway/:gateway_payment_id/check',
    toOperate(checkSchema),
    async (request, reply) => {
      await checkPayment(context, nameOf(request), askerOf(request))
      return reply.redirect(back(request, 'checked'), 303)
    },
  )
}

function assignmentIn(form: Static<typeof assignSchema.body>) {
  const { external_loan_id, note, if_match } = form
  const kinds = REFERENCE_KINDS.filter(kind => `remember_${kind}` in form)
  return { external_loan_id, note, remember: kinds.length > 0 ? kinds : undefined, if_match }
}

type Asked = { params: Static<typeof params>; query: Static<typeof kindQuery> }

function nameOf({ params: { gateway, gateway_payment_id: paymentId }, query }: Asked) {
  return { gateway, paymentId, ...query }
}

const back = ({ params, query: { kind = 'payment' } }: Asked, done: DoneKey) =>
  donePath(paymentPath({ ...params, kind }), done)

/** The form has the fields of every outcome: these are those of the chosen one, in the API's types. */
function fieldsOf(form: Static<typeof Decision>): object {
  const { outcome, note, external_loan_id } = form
  // The API takes numbers here, so nothing else trims pasted text.
  const [amount, paid_on, ledger_transaction_id] = [
    form.amount,
    form.paid_on,
    form.ledger_transaction_id,
  ].map(text => text && trimmed(text))
  const isPlain = /^\d{1,13}(\.\d{1,2})?$/.test(amount ?? '')
  const all: Record<string, unknown> = {
    outcome,
    note,
    external_loan_id,
    amount: isPlain ? Number(amount) : amount,
    paid_on: dayOf(paid_on ?? '')?.text ?? paid_on,
    ledger_transaction_id,
  }
  return Object.fromEntries(
    membersOf(outcome).flatMap(name => (all[name] === undefined ? [] : [[name, all[name]]])),
  )
}

/** The form takes days as people write them, the API in one form. */
function inWordsOfTheForm<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof FieldErrors)) throw error
    const fields = error.fields.map(field =>
      field.path === '/paid_on' ? { ...field, message: PAID_ON_FORM } : field,
    )
    throw Object.assign(error, { fields })
  }
}

const PAID_ON_FORM = 'must be a day such as 05 March 2026 or 2026-03-05'
