import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { decimalOf, plainIntegerOf } from '../fields/number.ts'
import { textOf, trueOf } from '../fields/text.ts'
import { notFound, notSupported } from '../http/refusal.ts'
import { rate } from '../http/wire.ts'
import type { Ledger } from '../storage/ledger.ts'
import {
  type Charge,
  chargeAppliesTo,
  chargeCalculationType,
  chargePaymentMode,
  chargeTimeType,
  isKnownCalculation,
  isKnownTime,
} from './charge.ts'
import { currencyByCode } from './currency.ts'

const KEYS = new Set(
  `name amount locale dateFormat currencyCode currencyOptions chargeAppliesTo chargeTimeType
  chargeCalculationType chargePaymentMode penalty active`.split(/\s+/),
)

export function createCharge(ledger: Ledger, body: Body) {
  refuseUnknownKeys(body, KEYS)
  const check = checks('charge')
  const name = textOf(body, 'name')
  const amount = decimalOf(body, 'amount')
  const time = plainIntegerOf(body, 'chargeTimeType')
  const calculation = plainIntegerOf(body, 'chargeCalculationType')
  check.required('name', name)
  check.required('amount', amount)
  check.positive('amount', amount)
  for (const needed of ['currencyCode', 'chargeAppliesTo'])
    check.required(needed, textOf(body, needed))
  check.required('chargeTimeType', time)
  check.required('chargeCalculationType', calculation)
  check.throwIfAny()
  if (!isKnownTime(time)) throw notSupported(`charges with chargeTimeType ${time}`)
  if (!isKnownCalculation(calculation))
    throw notSupported(`charges with chargeCalculationType ${calculation}`)
  const id = ledger.books.nextId('charge')
  ledger.books.define('charges', {
    id,
    name: name ?? '',
    active: trueOf(body, 'active'),
    penalty: trueOf(body, 'penalty'),
    currencyCode: textOf(body, 'currencyCode') ?? '',
    amount: amount?.toFixed() ?? '0',
    appliesTo: plainIntegerOf(body, 'chargeAppliesTo') ?? 1,
    time: time ?? 0,
    calculation: calculation ?? 0,
    paymentMode: plainIntegerOf(body, 'chargePaymentMode') ?? 0,
  })
  return { resourceId: id }
}

export function chargeById(ledger: Ledger, id: number | undefined): Charge {
  const charge = ledger.books.defined.charges.get(id ?? 0)
  if (charge) return charge
  throw notFound('error.msg.charge.id.invalid', `Charge with identifier ${id} does not exist`, id)
}

export function chargeView(charge: Charge) {
  const { id, name, active, penalty, amount } = charge
  return {
    id,
    name,
    active,
    penalty,
    currency: currencyByCode(charge.currencyCode),
    amount: rate(amount),
    chargeTimeType: chargeTimeType(charge.time),
    chargeAppliesTo: chargeAppliesTo(charge.appliesTo),
    chargeCalculationType: chargeCalculationType(charge.calculation),
    chargePaymentMode: chargePaymentMode(charge.paymentMode),
  }
}
