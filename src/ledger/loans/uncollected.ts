import { isoDay, namedDay } from '../../day.ts'
import { cannotApply, moreThanPrincipal } from './charges.ts'
import { lastDue } from './last-due.ts'
import type { LedgerLoan } from './loan.ts'

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
