import { DAY_MS, type Day, isoDay, namedDay } from '../../day.ts'
import { cannotApply, moreThanPrincipal } from './charges.ts'
import { FREQUENCIES, type LedgerLoan } from './loan.ts'

type NewTerms = {
  principal: number
  expectedDisbursementDate: string
  loanTermFrequency: number
  repaymentEvery: number
  repaymentFrequencyType: number
}

/** @returns why the ledger would accept charges of the loan that, with these terms, it would never collect */
export function uncollected(loan: LedgerLoan, terms: NewTerms): string | undefined {
  const whose = `the loan ${loan.externalId}`
  const charges = loan.charges ?? []
  const tooMuch = moreThanPrincipal(charges, terms.principal)
  if (tooMuch !== undefined) return cannotApply(tooMuch, whose)
  const last = lastInstalment(loan, terms)
  const late = charges.find(({ dueDate }) => dueDate !== undefined && isoDay(dueDate) > last)
  const reason = `it is due after the last instalment of ${last}`
  return late && cannotApply({ name: late.name, reason }, whose)
}

function lastInstalment({ expectedFirstRepaymentOnDate, timeline }: LedgerLoan, terms: NewTerms) {
  const { repaymentFrequencyType: frequency, loanTermFrequency: term } = terms
  if (expectedFirstRepaymentOnDate !== undefined) {
    return lastDue(expectedFirstRepaymentOnDate, frequency, term - terms.repaymentEvery)
  }
  const from = namedDay(terms.expectedDisbursementDate) ?? timeline.submittedOnDate
  return lastDue(from, frequency, term)
}

/** The end of the last of `count` periods after a day, as `YYYY-MM-DD`. */
function lastDue(from: Day, frequency: number, count: number): string {
  const [year, month, day] = from
  if (frequency === FREQUENCIES.days || frequency === FREQUENCIES.weeks) {
    const days = count * (frequency === FREQUENCIES.weeks ? 7 : 1)
    return new Date(Date.UTC(year, month - 1, day) + days * DAY_MS).toISOString().slice(0, 10)
  }
  const months = count * (frequency === FREQUENCIES.years ? 12 : 1)
  const last = new Date(Date.UTC(year, month + months, 0))
  // 31 January leads to the last day of February.
  const date = Math.min(day, last.getUTCDate())
  return isoDay([last.getUTCFullYear(), last.getUTCMonth() + 1, date])
}
