import { daysBetween } from '../calendar.ts'
import { amount, day } from '../http/wire.ts'
import type { Paise } from '../money.ts'
import { INR } from '../reference/currency.ts'
import { type Account, type Instalment, outstandingOf } from '../transactions/account.ts'

const NIL = amount(0)

type Shown = { account: Account; principal: Paise; from: string; today: string }

/** A schedule that is not stored has no payments in its totals. */
export function previewView({ account, principal, from, today }: Shown) {
  const [first, ...periods] = periodsView(account, principal, from, today)
  return {
    ...totalsView(account, principal, from),
    totalOutstanding: NIL,
    periods: [{ ...first, totalOutstandingForPeriod: NIL }, ...periods],
  }
}

export function scheduleView({ account, principal, from, today }: Shown) {
  const { instalments, principalPaid, interestPaid, feesPaid } = account
  const total = (pick: (instalment: Instalment) => Paise) =>
    amount(instalments.reduce((sum, instalment) => sum + pick(instalment), 0))
  return {
    ...totalsView(account, principal, from),
    totalWaived: NIL,
    totalWrittenOff: NIL,
    totalRepayment: amount(principalPaid + interestPaid + feesPaid),
    totalPaidInAdvance: total(instalment => instalment.paidInAdvance),
    totalPaidLate: total(instalment => instalment.paidLate),
    totalOutstanding: amount(account.outstanding),
    periods: periodsView(account, principal, from, today),
  }
}

function totalsView(account: Account, principal: Paise, from: string) {
  const { instalments, principalPaid, interestCharged, feesCharged } = account
  const scheduled = account.balance + principalPaid
  return {
    currency: INR,
    loanTermInDays: daysBetween(from, instalments.at(-1)?.due ?? from),
    totalPrincipalDisbursed: amount(principal),
    totalPrincipalExpected: amount(scheduled),
    totalPrincipalPaid: amount(principalPaid),
    totalInterestCharged: amount(interestCharged),
    totalFeeChargesCharged: amount(feesCharged),
    totalPenaltyChargesCharged: NIL,
    totalRepaymentExpected: amount(scheduled + interestCharged + feesCharged),
    totalCredits: NIL,
  }
}

function periodsView(account: Account, principal: Paise, from: string, today: string) {
  const periods = account.instalments.map(instalment => period(instalment, today))
  return [disbursementPeriod(account, principal, from), ...periods]
}

function disbursementPeriod({ feesAtDisbursement }: Account, principal: Paise, from: string) {
  const fees = amount(feesAtDisbursement)
  return {
    dueDate: day(from),
    principalDisbursed: amount(principal),
    principalLoanBalanceOutstanding: amount(principal),
    feeChargesDue: fees,
    feeChargesOutstanding: NIL,
    totalOriginalDueForPeriod: fees,
    totalDueForPeriod: fees,
    totalPaidForPeriod: NIL,
    totalOverdue: NIL,
    totalActualCostOfLoanForPeriod: NIL,
    totalCredits: NIL,
    totalAccruedInterest: NIL,
    downPaymentPeriod: false,
  }
}

function period(instalment: Instalment, today: string) {
  const { principal, interest, fees, principalPaid, interestPaid, feesPaid } = instalment
  const due = amount(principal + interest + fees)
  const outstanding = outstandingOf(instalment)
  return {
    period: instalment.number,
    fromDate: day(instalment.from),
    dueDate: day(instalment.due),
    obligationsMetOnDate: day(instalment.metOn),
    complete: instalment.metOn !== undefined,
    daysInPeriod: daysBetween(instalment.from, instalment.due),
    principalOriginalDue: amount(principal),
    principalDue: amount(principal),
    principalPaid: amount(principalPaid),
    principalWrittenOff: NIL,
    principalOutstanding: amount(principal - principalPaid),
    principalLoanBalanceOutstanding: amount(instalment.balance),
    interestOriginalDue: amount(interest),
    interestDue: amount(interest),
    interestPaid: amount(interestPaid),
    interestWaived: NIL,
    interestWrittenOff: NIL,
    interestOutstanding: amount(interest - interestPaid),
    feeChargesDue: amount(fees),
    feeChargesPaid: amount(feesPaid),
    feeChargesWaived: NIL,
    feeChargesWrittenOff: NIL,
    feeChargesOutstanding: amount(fees - feesPaid),
    penaltyChargesDue: NIL,
    penaltyChargesPaid: NIL,
    penaltyChargesWaived: NIL,
    penaltyChargesWrittenOff: NIL,
    penaltyChargesOutstanding: NIL,
    totalOriginalDueForPeriod: due,
    totalDueForPeriod: due,
    totalPaidForPeriod: amount(principalPaid + interestPaid + feesPaid),
    totalPaidInAdvanceForPeriod: amount(instalment.paidInAdvance),
    totalPaidLateForPeriod: amount(instalment.paidLate),
    totalWaivedForPeriod: NIL,
    totalWrittenOffForPeriod: NIL,
    totalOutstandingForPeriod: amount(outstanding),
    totalOverdue: amount(instalment.due < today ? outstanding : 0),
    totalActualCostOfLoanForPeriod: amount(interest + fees),
    totalInstallmentAmountForPeriod: amount(principal + interest),
    totalCredits: NIL,
    totalAccruedInterest: NIL,
    downPaymentPeriod: false,
  }
}
