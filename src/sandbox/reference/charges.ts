import type { Body } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { decimalOf, plainIntegerOf } from '../fields/number.ts'
import { textOf } from '../fields/text.ts'
import { notSupported } from '../http/refusal.ts'
import { paise } from '../money.ts'
import type { Ledger } from '../storage/ledger.ts'

const ON_A_SPECIFIED_DAY = 2
const FIXED = 1

export function createCharge(ledger: Ledger, body: Body) {
  const check = checks('charge')
  const name = textOf(body, 'name')
  const amount = decimalOf(body, 'amount')
  check.required('name', name)
  check.required('amount', amount)
  check.positive('amount', amount)
  check.throwIfAny()
  const time = plainIntegerOf(body, 'chargeTimeType')
  const calculation = plainIntegerOf(body, 'chargeCalculationType')
  if (time !== ON_A_SPECIFIED_DAY || calculation !== FIXED) {
    throw notSupported('charges other than fixed amounts on a specified day')
  }
  const id = ledger.books.nextId('charge')
  if (name && amount) ledger.books.define('charges', { id, name, amount: paise(amount) })
  return { resourceId: id }
}
