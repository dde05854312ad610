import { amount, day, rate } from '../http/wire.ts'
import type { Paise } from '../money.ts'
import {
  AT_DISBURSEMENT,
  chargeCalculationType,
  chargePaymentMode,
  chargeTimeType,
  FLAT,
} from '../reference/charge.ts'
import { INR } from '../reference/currency.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import type { Account } from '../transactions/account.ts'
import { transactionView } from '../transactions/transaction-view.ts'
import { totalOf } from './fees.ts'
import type { Loan, LoanCharge } from './loan.ts'
import { duesOf } from './schedule.ts'
import { scheduleView } from './schedule-view.ts'
import { isDisbursed } from './status.ts'

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

/** The disbursal pays those at disbursement; what else was paid is for the others, in their order. */
function chargesView(loan: Loan, account: Account) {
  const dues = duesOf(loan)
  let paid = account.feesPaid
  if (isDisbursed(loan.status)) paid -= account.feesAtDisbursement
  return loan.charges.map(charge => {
    const total = totalOf(charge, dues)
    const isAtDisbursement = charge.time === AT_DISBURSEMENT
    const ofThis = isAtDisbursement ? (isDisbursed(loan.status) ? total : 0) : Math.min(paid, total)
    if (!isAtDisbursement) paid -= ofThis
    return chargeView(loan, charge, total, ofThis)
  })
}

function chargeView(loan: Loan, charge: LoanCharge, total: Paise, paid: Paise) {
  const isPercentage = charge.calculation !== FLAT
  return {
    id: charge.id,
    chargeId: charge.chargeId,
    name: charge.name,
    chargeTimeType: chargeTimeType(charge.time),
    submittedOnDate: day(loan.submittedOn),
    dueDate: day(charge.dueDate),
    chargeCalculationType: chargeCalculationType(charge.calculation),
    percentage: isPercentage ? rate(charge.amount) : amount(0),
    amountPercentageAppliedTo: amount(isPercentage ? loan.scheduled.principal : 0),
    currency: INR,
    amount: amount(total),
    amountPaid: amount(paid),
    amountWaived: amount(0),
    amountWrittenOff: amount(0),
    amountOutstanding: amount(total - paid),
    amountOrPercentage: rate(charge.amount),
    penalty: charge.penalty,
    chargePaymentMode: chargePaymentMode(charge.paymentMode),
    externalId: charge.externalId,
    paid: paid === total,
    waived: false,
    chargePayable: false,
    loanId: loan.id,
    externalLoanId: loan.externalId,
  }
}

const namesIn = (query: URLSearchParams, name: string): Set<string> =>
  new Set((query.get(name) ?? '').split(',').map(part => part.trim()))
