import type { Day } from '../day.ts'
import { type LedgerLoan, loanPath } from './loan.ts'

/** What we use of a loan's transaction as the ledger shows it. */
export type LedgerTransaction = {
  id: number
  externalId: string
  date: Day
  amount: number
  reversedOnDate?: Day
  type?: { repayment?: boolean; disbursement?: boolean }
  paymentDetailData?: { receiptNumber?: string }
}

export type LoanWithTransactions = LedgerLoan & { transactions?: LedgerTransaction[] }

export const loanWithTransactionsPath = (loanExternalId: string) =>
  loanPath(loanExternalId, '?associations=transactions')
export const transactionPath = (loanExternalId: string, externalId: string) =>
  loanPath(loanExternalId, `/transactions/external-id/${externalId}`)

/** A transaction that was undone is still found by its external id; of an undone disbursement only this date tells. */
export const isStanding = (transaction: LedgerTransaction) =>
  transaction.reversedOnDate === undefined
