import { Decimal } from 'decimal.js'
import { misconfigured } from '../answers/misconfigured.ts'
import { ledgerPath } from '../calls/path.ts'
import type { LedgerCharge } from './loan.ts'
import type { ProductCharge, ProductWithTerms } from './product.ts'

/** The times of charges, as Fineract numbers them. */
const AT_DISBURSEMENT = 1
const PER_INSTALMENT = 8
const WHEN_OVERDUE = 9
const FLAT = 1
/** The mode of payment: from a savings account. */
const BY_TRANSFER = 1
const PERCENT_OF_AMOUNT = [2, 5]

/**
 * The product's charges as a request has them; the loan gets an overdue charge from its product by itself.
 * @throws LedgerTrouble if one cannot be applied
 */
export function chargesOf(product: ProductWithTerms, principal: number) {
  const { id, name } = product
  const charges = (product.charges ?? []).filter(one => one.chargeTimeType.id !== WHEN_OVERDUE)
  const path = ledgerPath(['loanproducts', id])
  const whose = `the product ${name}`
  for (const charge of charges) {
    const reason = reasonAgainst(charge, product)
    if (reason !== undefined)
      throw misconfigured(path, cannotApply({ name: charge.name, reason }, whose))
  }
  const tooMuch = moreThanPrincipal(charges, principal)
  if (tooMuch !== undefined) throw misconfigured(path, cannotApply(tooMuch, whose))
  return charges.map(({ id, amount }) => ({ chargeId: id, amount }))
}

type Charge = Omit<LedgerCharge, 'id' | 'chargeId' | 'dueDate'>

/** The ledger accepts charges of more than it pays out. @returns such charges, and why they cannot be applied */
export function moreThanPrincipal(charges: Charge[], principal: number): Unapplied | undefined {
  const paidFirst = charges.filter(({ chargeTimeType }) => chargeTimeType.id === AT_DISBURSEMENT)
  const amounts = paidFirst.map(charge => amountOf(charge, principal))
  const total = Decimal.sum(0, ...amounts)
  if (total.lte(principal)) return undefined
  const name = paidFirst.map(one => one.name).join(', ')
  return { name, reason: `${total} at disbursement is more than the principal of ${principal}` }
}

type Unapplied = { name: string; reason: string }

export const cannotApply = ({ name, reason }: Unapplied, whose: string) =>
  `the charge ${name} of ${whose} cannot be applied: ${reason}`

function amountOf(charge: Charge, principal: number): Decimal {
  const { amountOrPercentage = charge.amount, chargeCalculationType } = charge
  const amount = new Decimal(amountOrPercentage)
  if (chargeCalculationType.id === FLAT) return amount
  // A share of the interest alone is left out: the interest is not known yet.
  return PERCENT_OF_AMOUNT.includes(chargeCalculationType.id)
    ? amount.times(principal).div(100)
    : new Decimal(0)
}

export function reasonAgainst(charge: ProductCharge, { currency }: ProductWithTerms) {
  const { active = true, chargeTimeType, chargePaymentMode } = charge
  if (!active) return 'it is not active'
  if (charge.currency.code !== currency.code) {
    return `it is in ${charge.currency.code}, and the product in ${currency.code}`
  }
  // The ledger takes such a loan, and fails whenever it is to be disbursed.
  if (chargePaymentMode?.id === BY_TRANSFER)
    return 'it is paid from a savings account, which no request names'
  if ([AT_DISBURSEMENT, PER_INSTALMENT].includes(chargeTimeType.id)) return undefined
  return `it is due on a day or at an event that no request names (${chargeTimeType.value})`
}
