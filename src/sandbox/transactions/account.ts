import type { Due } from '../loans/due.ts'
import { atDisbursement } from '../loans/fees.ts'
import type { Loan } from '../loans/loan.ts'
import { duesOf, interestOn, scheduleOf } from '../loans/schedule.ts'
import { isDisbursed } from '../loans/status.ts'
import { type Paise, sum } from '../money.ts'
import type { Split, Transaction } from './transaction.ts'

export type Instalment = Due & {
  principalPaid: Paise
  interestPaid: Paise
  feesPaid: Paise
  paidInAdvance: Paise
  paidLate: Paise
  metOn?: string
}

/** Built from the loan's schedule, then updated by each repayment in order. */
export type Account = {
  instalments: Instalment[]
  open: number
  balance: Paise
  principalPaid: Paise
  interestPaid: Paise
  feesPaid: Paise
  interestCharged: Paise
  feesCharged: Paise
  isWrittenOff: boolean
  // The part of the fees that the disbursal itself pays.
  feesAtDisbursement: Paise
  outstanding: Paise
  overpaid: Paise
  // The loan, if its interest depends on what is paid.
  recalculated?: Loan
}

export function openAccount(loan: Loan): Account {
  const dues = scheduleOf(loan)
  const feesAtDisbursement = atDisbursement(loan.charges, duesOf(loan))
  const feesPaid = isDisbursed(loan.status) ? feesAtDisbursement : 0
  const interestCharged = sum(dues.map(due => due.interest))
  const feesCharged = sum(dues.map(due => due.fees)) + feesAtDisbursement
  const balance = sum(dues.map(due => due.principal))
  const account: Account = {
    instalments: dues.map(due => ({
      ...due,
      principalPaid: 0,
      interestPaid: 0,
      feesPaid: 0,
      paidInAdvance: 0,
      paidLate: 0,
    })),
    open: 0,
    balance,
    principalPaid: 0,
    interestPaid: 0,
    feesPaid,
    interestCharged,
    feesCharged,
    feesAtDisbursement,
    outstanding: balance + interestCharged + feesCharged - feesPaid,
    isWrittenOff: false,
    overpaid: 0,
  }
  if (loan.terms.recalculates && isDisbursed(loan.status)) {
    account.recalculated = loan
    recalculate(account, loan.scheduled.from)
  }
  return account
}

/**
 * Interest of the periods that begin at that day or later: of one that is over, on what was owed at its start; of a later
 * one, on what will be owed if everything is paid as it falls due.
 */
function recalculate(account: Account, since: string): void {
  const { recalculated: loan, instalments } = account
  if (loan === undefined) return
  const today = new Date().toISOString()
  let owed = account.balance
  for (const instalment of instalments.filter(({ from }) => from >= since)) {
    const { number, due, principal, principalPaid, interestPaid } = instalment
    const interest = Math.max(interestPaid, interestOn(owed, number, loan))
    account.interestCharged += interest - instalment.interest
    account.outstanding += interest - instalment.interest
    instalment.interest = interest
    if (due > today) owed -= principal - principalPaid
  }
}

/** Pays instalments in order of due date; within each, fees, then interest, then principal. */
export function allocate(account: Account, amount: Paise, date: string): Split {
  const split = { principal: 0, interest: 0, fees: 0 }
  let rest = amount
  while (rest > 0) {
    const instalment = account.instalments[account.open]
    if (!instalment) break
    const fees = Math.min(rest, instalment.fees - instalment.feesPaid)
    const interest = Math.min(rest - fees, instalment.interest - instalment.interestPaid)
    const principal = Math.min(
      rest - fees - interest,
      instalment.principal - instalment.principalPaid,
    )
    pay(instalment, fees, interest, principal, date)
    split.fees += fees
    split.interest += interest
    split.principal += principal
    rest -= fees + interest + principal
    if (outstandingOf(instalment) > 0) break
    instalment.metOn = date
    account.open++
  }
  account.feesPaid += split.fees
  account.interestPaid += split.interest
  account.principalPaid += split.principal
  account.balance -= split.principal
  account.outstanding -= amount - rest
  account.overpaid += rest
  recalculate(account, date)
  return { ...split, overpayment: rest, balance: account.balance }
}

/** What else than a repayment changes what is owed. */
export function applyOther(account: Account, transaction: Transaction): void {
  if (transaction.type === 'chargeback') oweAgain(account, transaction.amount, transaction.date)
  if (transaction.type !== 'writeOff' || transaction.reversedOn !== undefined) return
  account.isWrittenOff = true
  account.outstanding = 0
  account.balance = 0
}

/** It falls due with the instalment of its day or, after the last one, with that. */
function oweAgain(account: Account, amount: Paise, date: string): void {
  const fromExcess = Math.min(account.overpaid, amount)
  const owed = amount - fromExcess
  account.overpaid -= fromExcess
  const found = account.instalments.findIndex(({ due }) => date <= due)
  const index = found < 0 ? account.instalments.length - 1 : found
  const instalment = account.instalments[index]
  if (!instalment || owed === 0) return
  instalment.principal += owed
  delete instalment.metOn
  account.open = Math.min(account.open, index)
  account.balance += owed
  account.outstanding += owed
}

export function outstandingOf(instalment: Instalment): Paise {
  const paid = instalment.principalPaid + instalment.interestPaid + instalment.feesPaid
  return instalment.principal + instalment.interest + instalment.fees - paid
}

function pay(
  instalment: Instalment,
  fees: Paise,
  interest: Paise,
  principal: Paise,
  date: string,
): void {
  instalment.feesPaid += fees
  instalment.interestPaid += interest
  instalment.principalPaid += principal
  if (date < instalment.due) instalment.paidInAdvance += fees + interest + principal
  if (date > instalment.due) instalment.paidLate += fees + interest + principal
}
