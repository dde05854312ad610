import { notFound } from '../http/refusal.ts'
import type { Loan } from '../loans/loan.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { Transaction } from './transaction.ts'

export function transactionByExternalId(
  ledger: Ledger,
  loan: Loan,
  externalId: string,
): Transaction {
  const id = ledger.books.transactionByExternalId.get(externalId)
  if (id === undefined) {
    const message = `Transaction with external identifier ${externalId} does not exist`
    throw notFound('error.msg.loan.transaction.external.id.invalid', message, externalId)
  }
  return transactionById(ledger, loan.id, id)
}

/** The loan itself is not looked at: if it is absent, the transaction is what is missing. */
export function transactionById(
  ledger: Ledger,
  loanId: number,
  id: number,
  whose = '',
): Transaction {
  const transaction = ledger.books.transactions.get(id)
  if (transaction?.loanId === loanId) return transaction
  const message = `Transaction with identifier ${id} does not exist${whose}`
  throw notFound('error.msg.loan.transaction.id.invalid', message, id)
}
