import { isoDay, namedDay } from '../../day.ts'
import { ledgerPath } from '../calls/path.ts'
import { cannotApply, refuseMoreThanPrincipal } from './charges.ts'
import { lastDue } from './last-due.ts'
import type { LedgerLoan } from './loan.ts'

type NewTerms = {
  principal: number
  expectedDisbursementDate: string
  loanTermFrequency: number
  repaymentEvery: number
  repaymentFrequencyType: number
}

/** With these terms, the ledger would accept charges of the loan that it never collects. @throws LedgerTrouble */
export function refuseUncollected(loan: LedgerLoan, terms: NewTerms): void {
  const path = ledgerPath(['loans', loan.id])
  const whose = `the loan ${loan.externalId}`
  const charges = loan.charges ?? []
  refuseMoreThanPrincipal(path, charges, whose, terms.principal)
  const last = lastInstalment(loan, terms)
  const late = charges.find(({ dueDate }) => dueDate !== undefined && isoDay(dueDate) > last)
  if (late === undefined) return
  throw cannotApply(path, late.name, whose, `it is due after the last instalment of ${last}`)
}

function lastInstalment({ expectedFirstRepaymentOnDate, timeline }: LedgerLoan, terms: NewTerms) {
  const { repaymentFrequencyType: frequency, loanTermFrequency: term } = terms
  if (expectedFirstRepaymentOnDate !== undefined) {
    return lastDue(expectedFirstRepaymentOnDate, frequency, term - terms.repaymentEvery)
  }
  const from = namedDay(terms.expectedDisbursementDate) ?? timeline.submittedOnDate
  return lastDue(from, frequency, term)
}
