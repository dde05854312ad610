import { notFound } from '../http/refusal.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { Loan } from './loan.ts'

export function loanByExternalId(ledger: Ledger, externalId: string): Loan {
  const id = ledger.books.loanByExternalId.get(externalId)
  const loan = id === undefined ? undefined : ledger.books.loans.get(id)
  if (!loan) {
    const message = `Loan with external identifier ${externalId} does not exist`
    throw notFound('error.msg.loan.external.id.invalid', message, externalId)
  }
  return loan
}

export function loanById(ledger: Ledger, id: number): Loan {
  const loan = ledger.books.loans.get(id)
  if (!loan) throw loanNotFound(id)
  return loan
}

export function loanNotFound(id: number) {
  return notFound('error.msg.loan.id.invalid', `Loan with identifier ${id} does not exist`, id)
}
