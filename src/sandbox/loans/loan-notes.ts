import type { Ledger } from '../storage/ledger.ts'
import type { Loan } from './loan.ts'

const OF_LOAN = { id: 200, code: 'noteType.loan', value: 'Loan note' }
const OF_TRANSACTION = {
  id: 300,
  code: 'noteType.loan.transaction',
  value: 'Loan transaction note',
}

export function loanNotes(ledger: Ledger, loan: Loan) {
  const common = { loanId: loan.id, createdByUsername: 'mifos', updatedByUsername: 'mifos' }
  const ofLoan = loan.notes.map(({ id, note }) => ({ id, ...common, noteType: OF_LOAN, note }))
  const ofTransactions = ledger.books
    .transactionsOf(loan)
    .filter(({ note }) => note !== undefined)
    .map(({ id, note }) => ({ id, ...common, noteType: OF_TRANSACTION, note }))
  return [...ofLoan, ...ofTransactions]
}
