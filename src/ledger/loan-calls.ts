import type { Day } from '../day.ts'
import type { Reader, Reading, Writer } from './client.ts'
import type { LedgerLoan } from './loan.ts'
import { lookUp, lookUpAnswer } from './look-up.ts'
import { type LedgerPath, ledgerPath } from './path.ts'
import type { LedgerTransaction } from './transaction.ts'

export type LoanWithTransactions = LedgerLoan & { transactions?: LedgerTransaction[] }
/** A loan has neither a summary nor a balance per instalment before it is disbursed. */
export type LoanWithDues = LoanWithTransactions & {
  summary?: {
    totalRepayment: number
    totalOutstanding: number
    totalOverdue: number
    overdueSinceDate?: Day
  }
  repaymentSchedule?: {
    /** The first one is the disbursement, and has no number. */
    periods: {
      period?: number
      dueDate: Day
      complete?: boolean
      totalOutstandingForPeriod: number
    }[]
  }
}

const WITH_CHARGES = { associations: 'charges' }
const WITH_TRANSACTIONS = { associations: 'transactions' }
const WITH_DUES = { associations: 'transactions,repaymentSchedule' }

function loanPath(externalId: string, query = {}, below: (string | number)[] = []): LedgerPath {
  return ledgerPath(['loans', 'external-id', externalId, ...below], query)
}

export function readLoan(ledger: Reader, externalId: string): Promise<Reading<LedgerLoan>> {
  return ledger.read(loanPath(externalId))
}

export function readLoanWithCharges(
  ledger: Reader,
  externalId: string,
): Promise<Reading<LedgerLoan>> {
  return ledger.read(loanPath(externalId, WITH_CHARGES))
}

export function readLoanWithTransactions(
  ledger: Reader,
  externalId: string,
): Promise<Reading<LoanWithTransactions>> {
  return ledger.read(loanPath(externalId, WITH_TRANSACTIONS))
}

export function findLoan(ledger: Reader, externalId: string) {
  return lookUp<LedgerLoan>(ledger, loanPath(externalId))
}

export function findLoanAnswer(ledger: Reader, externalId: string) {
  return lookUpAnswer<LedgerLoan>(ledger, loanPath(externalId))
}

export function findLoanWithCharges(ledger: Reader, externalId: string) {
  return lookUp<LedgerLoan>(ledger, loanPath(externalId, WITH_CHARGES))
}

export function findLoanWithTransactions(ledger: Reader, externalId: string) {
  return lookUp<LoanWithTransactions>(ledger, loanPath(externalId, WITH_TRANSACTIONS))
}

export function findLoanWithDues(ledger: Reader, externalId: string) {
  return lookUp<LoanWithDues>(ledger, loanPath(externalId, WITH_DUES))
}

export function findTransaction<T extends LedgerTransaction = LedgerTransaction>(
  ledger: Reader,
  loanExternalId: string,
  externalId: string,
) {
  const path = loanPath(loanExternalId, {}, ['transactions', 'external-id', externalId])
  return lookUp<T>(ledger, path)
}

export function findTransactionById(ledger: Reader, loanExternalId: string, id: number) {
  return lookUp<LedgerTransaction>(ledger, loanPath(loanExternalId, {}, ['transactions', id]))
}

export function submitLoan({ ledger, key }: Writer, body: object) {
  return ledger.write({
    method: 'POST',
    path: ledgerPath(['loans']),
    body,
    key,
    promisedId: 'loanId',
  })
}

export function updateLoan({ ledger, key }: Writer, externalId: string, body: object) {
  const path = loanPath(externalId)
  return ledger.write({ method: 'PUT', path, body, key, promisedId: 'loanId' })
}

export function approveLoan({ ledger, key }: Writer, externalId: string, body: object) {
  const path = loanPath(externalId, { command: 'approve' })
  return ledger.write({ method: 'POST', path, body, key, promisedId: 'loanId' })
}

export function disburseLoan({ ledger, key }: Writer, externalId: string, body: object) {
  const path = loanPath(externalId, { command: 'disburse' })
  return ledger.write({ method: 'POST', path, body, key, promisedId: 'loanId' })
}

export function deleteLoan({ ledger, key }: Writer, externalId: string) {
  return ledger.write({ method: 'DELETE', path: loanPath(externalId), key, promisedId: 'loanId' })
}

export function repayLoan({ ledger, key }: Writer, externalId: string, body: object) {
  const path = loanPath(externalId, { command: 'repayment' }, ['transactions'])
  return ledger.write({ method: 'POST', path, body, key, promisedId: 'resourceId' })
}
