import type { Body } from '../fields/body.ts'
import { dateWithin } from '../fields/date.ts'
import { decimalOf, idOf } from '../fields/number.ts'
import { containerError, notFound } from '../http/refusal.ts'
import { day } from '../http/wire.ts'
import { paise, rupees } from '../money.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { LoanCharge } from './loan.ts'

/** An item with the id of one of this loan's charges updates it; any other is a new charge. */
export function readLoanCharges(ledger: Ledger, body: Body, kept: LoanCharge[]): LoanCharge[] {
  const sent = body.charges ?? []
  if (!Array.isArray(sent)) throw containerError(500, 'Not a JSON Array')
  return sent.map((item: Body) => {
    const fields = { locale: body.locale, ...item }
    const chargeId = idOf(fields, 'chargeId')
    const charge = ledger.books.defined.charges.get(chargeId ?? 0)
    if (!charge) {
      const message = `Charge with identifier ${chargeId} does not exist`
      throw notFound('error.msg.charge.id.invalid', message, chargeId)
    }
    const amount = decimalOf(fields, 'amount')
    const id = idOf(fields, 'id')
    return {
      id: kept.some(charge => charge.id === id) && id ? id : 0,
      chargeId: charge.id,
      name: charge.name,
      amount: amount === undefined ? charge.amount : paise(amount),
      dueDate: dateWithin(fields, 'dueDate', body),
    }
  })
}

/** An empty list counts as no change: it takes effect only if the schedule changes too. */
export function differ(sent: LoanCharge[], kept: LoanCharge[]): boolean {
  const isKept = ({ id, amount, dueDate }: LoanCharge) =>
    kept.some(charge => charge.id === id && charge.amount === amount && charge.dueDate === dueDate)
  return sent.length > 0 && !(sent.length === kept.length && sent.every(isKept))
}

export function numberCharges(ledger: Ledger, charges: LoanCharge[]): LoanCharge[] {
  return charges.map(charge => ({
    ...charge,
    id: charge.id || ledger.books.nextId('loanCharge'),
  }))
}

export function chargesAsChanges(charges: LoanCharge[]) {
  return charges.map(charge => ({
    ...(charge.id ? { id: charge.id } : {}),
    chargeId: charge.chargeId,
    amount: rupees(charge.amount),
    chargeTimeType: 2,
    chargeCalculationType: 1,
    dueDate: day(charge.dueDate),
  }))
}
