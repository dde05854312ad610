import { Exact, type Paise, paise, sum } from '../money.ts'
import {
  AT_DISBURSEMENT,
  FLAT,
  ON_A_DAY,
  PER_INSTALMENT,
  PERCENT_OF_AMOUNT_AND_INTEREST,
  PERCENT_OF_INTEREST,
} from '../reference/charge.ts'
import type { Due } from './due.ts'
import type { LoanCharge } from './loan.ts'

/** One due after the last instalment is in none; those at disbursement are paid by the disbursal. */
export function withFees(dues: Due[], charges: LoanCharge[]): Due[] {
  for (const charge of charges) {
    const { time, dueDate } = charge
    if (time === PER_INSTALMENT)
      for (const due of dues) due.fees += shareOf(charge, due.principal, due.interest)
    const instalment = time === ON_A_DAY && dues.find(({ due }) => (dueDate ?? '') <= due)
    if (instalment) instalment.fees += totalOf(charge, dues)
  }
  return dues
}

/** A charge per instalment is the sum of what each instalment has of it. */
export function totalOf(charge: LoanCharge, dues: Due[]): Paise {
  if (charge.time === PER_INSTALMENT)
    return sum(dues.map(({ principal, interest }) => shareOf(charge, principal, interest)))
  const principal = sum(dues.map(due => due.principal))
  return shareOf(charge, principal, sum(dues.map(due => due.interest)))
}

export function atDisbursement(charges: LoanCharge[], dues: Due[]): Paise {
  const paid = charges.filter(({ time }) => time === AT_DISBURSEMENT)
  return sum(paid.map(charge => totalOf(charge, dues)))
}

function shareOf({ calculation, amount }: LoanCharge, principal: Paise, interest: Paise): Paise {
  if (calculation === FLAT) return paise(new Exact(amount))
  const ofPrincipal = calculation === PERCENT_OF_INTEREST ? 0 : principal
  const ofInterest = [PERCENT_OF_INTEREST, PERCENT_OF_AMOUNT_AND_INTEREST].includes(calculation)
    ? interest
    : 0
  return paise(new Exact(ofPrincipal + ofInterest).times(amount).dividedBy(10_000))
}
