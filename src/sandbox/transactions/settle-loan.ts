import type { Loan } from '../loans/loan.ts'
import { ACTIVE, CLOSED, OVERPAID } from '../loans/status.ts'
import { isLiveRepayment } from '../storage/books.ts'
import type { Ledger } from '../storage/ledger.ts'
import { allocate, applyOther, openAccount } from './account.ts'
import type { Split, Transaction } from './transaction.ts'

/** After one repayment was reversed or posted before an existing one, all are allocated again. */
export function reallocate(ledger: Ledger, loan: Loan, posted?: number): void {
  const { books } = ledger
  const account = openAccount(loan)
  for (const transaction of books.transactionsOf(loan)) {
    applyOther(account, transaction)
    if (!isLiveRepayment(transaction)) continue
    const split = allocate(account, transaction.amount, transaction.date)
    if (!differs(transaction, split)) continue
    const isReplayed = transaction.id !== posted && hasOtherParts(transaction, split)
    const replayed = { type: 'REPLAYED' as const, amount: transaction.amount }
    const { relations = [] } = transaction
    books.saveTransaction({
      ...transaction,
      ...split,
      relations: isReplayed ? [...relations, replayed] : relations,
    })
  }
  books.forgetAccount(loan)
}

export function settleLoan(ledger: Ledger, loan: Loan, on: string): void {
  const account = ledger.books.accountOf(loan)
  const paidUp = account.overpaid > 0 ? OVERPAID : CLOSED
  const status = account.outstanding > 0 ? ACTIVE : paidUp
  const closedOn = status === CLOSED ? on : undefined
  if (status === loan.status && (status !== CLOSED || loan.closedOn === on)) return
  ledger.books.saveLoan({ ...loan, status, closedOn })
}

/** A transaction of which only the balance after it differs is not replayed. */
const hasOtherParts = (transaction: Transaction, { balance: _, ...parts }: Split): boolean =>
  differs(transaction, { ...parts, balance: transaction.balance })

const differs = (transaction: Transaction, split: Split): boolean =>
  (Object.keys(split) as (keyof Split)[]).some(name => transaction[name] !== split[name])
