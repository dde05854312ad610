import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { integerOf } from '../fields/number.ts'
import { textOf, trueOf } from '../fields/text.ts'
import { integrityIssue, notFound } from '../http/refusal.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { PaymentType } from './payment-type.ts'

const KEYS = new Set(
  'name description isCashPayment position codeName isSystemDefined locale'.split(' '),
)

export function paymentTypeById(ledger: Ledger, id: number): PaymentType {
  const type = ledger.books.defined.paymentTypes.get(id)
  if (type) return type
  throw notFound('error.msg.payment.type.invalid', `PaymentType with ${id} does not exist`, id)
}

export function createPaymentType(ledger: Ledger, body: Body) {
  refuseUnknownKeys(body, KEYS)
  const check = checks('paymenttype')
  const name = textOf(body, 'name')
  check.required('name', name)
  check.atMost('description', textOf(body, 'description'), 500)
  check.throwIfAny()
  if ((name?.length ?? 0) > 100) {
    const message = 'ERROR: value too long for type character varying(100)'
    throw integrityIssue('error.msg.data.integrity.issue', message)
  }
  const id = ledger.books.nextId('paymentType')
  ledger.books.define('paymentTypes', {
    id,
    name: name ?? '',
    description: textOf(body, 'description') ?? '',
    isCashPayment: trueOf(body, 'isCashPayment'),
    position: integerOf({ locale: 'en', ...body }, 'position') ?? 0,
    codeName: textOf(body, 'codeName') ?? '',
    isSystemDefined: false,
  })
  return { resourceId: id }
}
