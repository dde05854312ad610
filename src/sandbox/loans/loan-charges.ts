import { type Body, unknownKeys } from '../fields/body.ts'
import type { Checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { decimalOf, idOf } from '../fields/number.ts'
import { textOf } from '../fields/text.ts'
import { domainRule, fieldError, invalid } from '../http/refusal.ts'
import { day } from '../http/wire.ts'
import { rupees } from '../money.ts'
import { type Charge, ON_A_DAY, WHEN_OVERDUE } from '../reference/charge.ts'
import { chargeById } from '../reference/charges.ts'
import type { Product } from '../reference/product.ts'
import type { Ledger } from '../storage/ledger.ts'
import { totalOf } from './fees.ts'
import type { Loan, LoanCharge } from './loan.ts'
import { duesOf } from './schedule.ts'

const KEYS = new Set(
  `locale id chargeId amount chargeTimeType chargeCalculationType dueDate chargePaymentMode
  externalId`.split(/\s+/),
)

export function checkLoanCharges(check: Checks, body: Body): void {
  const code = 'validation.msg.loan.charges'
  for (const [i, fields] of chargesIn(body).entries()) {
    const unknown = unknownKeys(fields, KEYS)
    if (unknown.length > 0) throw invalid(unknown)
    const required = (name: string, value: unknown) => {
      const parameter = `charges[${i + 1}][${name}]`
      const message = `The parameter \`${parameter}\` is mandatory.`
      const error = fieldError(`${code}.${name}.cannot.be.blank`, parameter, message, null)
      if (value === undefined) check.add(error)
    }
    const amount = decimalOf(fields, 'amount')
    required('chargeId', idOf(fields, 'chargeId'))
    required('amount', amount)
    if (amount === undefined || amount.gt(0)) continue
    const message = 'The parameter `charges` must be greater than 0.'
    check.add(fieldError(`${code}.not.greater.than.zero`, 'charges', message, amount.toNumber(), 0))
  }
}

/** An item with the id of one of this loan's charges updates it; any other is a new charge. */
export function readLoanCharges(
  ledger: Ledger,
  product: Product,
  body: Body,
  expectedOn: string,
  kept: LoanCharge[],
): LoanCharge[] {
  return chargesIn(body).map(fields => {
    const charge = chargeById(ledger, idOf(fields, 'chargeId'))
    const dueDate = dateOf(fields, 'dueDate', body)
    refuseCharge(charge, product, dueDate, expectedOn)
    const id = idOf(fields, 'id')
    const { name, time, calculation, penalty, paymentMode } = charge
    return {
      id: kept.some(charge => charge.id === id) && id ? id : 0,
      chargeId: charge.id,
      ...{ name, time, calculation, penalty, paymentMode, dueDate },
      amount: decimalOf(fields, 'amount')?.toFixed() ?? charge.amount,
      externalId: textOf(fields, 'externalId'),
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
  return charges.map(charge => ({ ...charge, id: charge.id || ledger.books.nextId('loanCharge') }))
}

/** The charges as an update lists its changes, with their amounts computed from the loan. */
export function chargesAsChanges(loan: Loan, charges: LoanCharge[]) {
  const dues = duesOf(loan)
  return charges.map(charge => ({
    ...(charge.id ? { id: charge.id } : {}),
    chargeId: charge.chargeId,
    amount: rupees(totalOf(charge, dues)),
    chargeTimeType: charge.time,
    chargeCalculationType: charge.calculation,
    dueDate: day(charge.dueDate),
  }))
}

/** Anything but a list counts as none. */
function chargesIn(body: Body): Body[] {
  const sent = Array.isArray(body.charges) ? (body.charges as Body[]) : []
  return sent.map(item => (body.locale === undefined ? item : { locale: body.locale, ...item }))
}

function refuseCharge(
  { id, name, active, time, currencyCode }: Charge,
  product: Product,
  dueDate: string | undefined,
  expectedOn: string,
): void {
  if (!active) {
    const message = `Charge '${name}' with identifier ${id} is not active`
    throw domainRule('error.msg.charge.is.not.active', message, id, name)
  }
  const refusal = (code: string, message: string) =>
    domainRule(`error.msg.loanCharge.${code}`, message)
  if (time === WHEN_OVERDUE) {
    const message = 'Installment charge cannot be added to the loan.'
    throw refusal('cannot.be.added.as.overdue.charge', message)
  }
  if (time === ON_A_DAY && (dueDate === undefined || dueDate < expectedOn)) {
    const message =
      'This charge with specified due date cannot be added as the it is not in schedule range.'
    throw refusal('cannot.be.added.as.specified.due.date.outside.range', message)
  }
  if (currencyCode !== product.currencyCode) {
    const message = 'Charge and Loan must have the same currency.'
    throw refusal('attach.to.loan.invalid.currency', message)
  }
}
