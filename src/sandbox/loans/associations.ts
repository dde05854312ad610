import { amount, day } from '../http/wire.ts'
import { INR } from '../reference/currency.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import type { Account } from '../transactions/account.ts'
import { transactionView } from '../transactions/transaction-view.ts'
import type { Loan, LoanCharge } from './loan.ts'
import { scheduleView } from './schedule-view.ts'

/** Schedule, transactions and charges are returned only if `associations` asks for them. */
export function associationsOf(ledger: Ledger, loan: Loan, query: URLSearchParams) {
  const requested = namesIn(query, 'associations')
  const excluded = namesIn(query, 'exclude')
  const wants = (name: string) =>
    (requested.has(name) || requested.has('all')) && !excluded.has(name)
  const { books } = ledger
  const charges = wants('charges') && loan.charges.length > 0
  return {
    ...(wants('repaymentSchedule') ? { repaymentSchedule: schedule(ledger, loan) } : {}),
    ...(wants('transactions')
      ? { transactions: books.transactionsOf(loan).map(tx => transactionView(ledger, loan, tx)) }
      : {}),
    ...(charges ? { charges: chargesView(loan, books.accountOf(loan)) } : {}),
  }
}

/** Fineract looks up the charges alone: of a loan that is not there, there are none. */
export function chargesOf({ books }: Ledger, loanId: number) {
  const loan = books.loans.get(loanId)
  return loan ? chargesView(loan, books.accountOf(loan)) : []
}

function schedule(ledger: Ledger, loan: Loan) {
  const account = ledger.books.accountOf(loan)
  const { principal, scheduled } = loan
  return scheduleView({ account, principal, from: scheduled.from, today: today(ledger) })
}

function chargesView(loan: Loan, account: Account) {
  let paid = account.feesPaid
  return loan.charges.map(charge => {
    const ofThis = Math.min(paid, charge.amount)
    paid -= ofThis
    return chargeView(loan, charge, ofThis)
  })
}

function chargeView(loan: Loan, charge: LoanCharge, paid: number) {
  return {
    id: charge.id,
    chargeId: charge.chargeId,
    name: charge.name,
    chargeTimeType: {
      id: 2,
      code: 'chargeTimeType.specifiedDueDate',
      value: 'Specified due date',
    },
    submittedOnDate: day(loan.submittedOn),
    dueDate: day(charge.dueDate),
    chargeCalculationType: { id: 1, code: 'chargeCalculationType.flat', value: 'Flat' },
    percentage: amount(0),
    amountPercentageAppliedTo: amount(0),
    currency: INR,
    amount: amount(charge.amount),
    amountPaid: amount(paid),
    amountWaived: amount(0),
    amountWrittenOff: amount(0),
    amountOutstanding: amount(charge.amount - paid),
    amountOrPercentage: amount(charge.amount),
    penalty: false,
    chargePaymentMode: { id: 0, code: 'chargepaymentmode.regular', value: 'Regular' },
    paid: paid === charge.amount,
    waived: false,
    chargePayable: false,
    loanId: loan.id,
    externalLoanId: loan.externalId,
  }
}

function namesIn(query: URLSearchParams, name: string): Set<string> {
  return new Set((query.get(name) ?? '').split(',').map(part => part.trim()))
}
