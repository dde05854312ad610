import type { Body } from '../fields/body.ts'
import type { Ledger } from '../storage/ledger.ts'
import { numberCharges } from './loan-charges.ts'
import { loanResult } from './loan-result.ts'
import { newLoan } from './new-loan.ts'

export function createLoan(ledger: Ledger, body: Body) {
  const { books } = ledger
  const requested = newLoan(ledger, body)
  const loan = {
    ...requested,
    id: books.nextId('loan'),
    charges: numberCharges(ledger, requested.charges),
    notes: requested.notes.map(({ note }) => ({ id: books.nextId('note'), note })),
  }
  books.saveLoan(loan)
  return loanResult(ledger, loan)
}
