import type { Ledger } from '../storage/ledger.ts'
import type { Loan } from './loan.ts'

const LOAN_NOTE = { id: 200, code: 'noteType.loan', value: 'Loan note' }
const TRANSACTION_NOTE = {
  id: 300,
  code: 'noteType.loan.transaction',
  value: 'Loan transaction note',
}

export function loanNotes(ledger: Ledger, loan: Loan) {
  const common = { loanId: loan.id, createdByUsername: 'mifos', updatedByUsername: 'mifos' }
  const ofLoan = loan.notes.map(({ id, note }) => ({ id, ...common, noteType: LOAN_NOTE, note }))
  const ofTransactions = ledger.books
    .transactionsOf(loan)
    .filter(({ note }) => note !== undefined)
    .map(({ id, note }) => ({ id, ...common, noteType: TRANSACTION_NOTE, note }))
  return [...ofLoan, ...ofTransactions]
}
