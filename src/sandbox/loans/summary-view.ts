import { amount, day } from '../http/wire.ts'
import type { Paise } from '../money.ts'
import { rupee } from '../reference/currency.ts'
import { type Account, type Instalment, outstandingOf } from '../transactions/account.ts'
import type { Loan } from './loan.ts'

const NIL = amount(0)

export function overdueInstalments(account: Account, today: string): Instalment[] {
  return account.instalments.filter(
    (instalment, i) => i >= account.open && instalment.due < today && outstandingOf(instalment) > 0,
  )
}

export function summaryView(loan: Loan, account: Account, today: string) {
  const overdue = overdueInstalments(account, today)
  const late = (pick: (instalment: Instalment) => Paise) =>
    overdue.reduce((sum, instalment) => sum + pick(instalment), 0)
  const left = (owed: Paise) => (account.isWrittenOff ? 0 : owed)
  const paid = account.principalPaid + account.interestPaid + account.feesPaid
  const cost = account.interestCharged + account.feesCharged
  return {
    currency: rupee(loan.terms.rounding),
    principalDisbursed: amount(loan.principal),
    principalAdjustments: NIL,
    ...part('principal', account.principalPaid, account.balance),
    principalOverdue: amount(late(due => due.principal - due.principalPaid)),
    interestCharged: amount(account.interestCharged),
    ...part('interest', account.interestPaid, left(account.interestCharged - account.interestPaid)),
    interestWaived: NIL,
    interestOverdue: amount(late(due => due.interest - due.interestPaid)),
    feeChargesCharged: amount(account.feesCharged),
    feeAdjustments: NIL,
    feeChargesDueAtDisbursementCharged: amount(account.feesAtDisbursement),
    ...part('feeCharges', account.feesPaid, left(account.feesCharged - account.feesPaid)),
    feeChargesWaived: NIL,
    feeChargesOverdue: amount(late(due => due.fees - due.feesPaid)),
    penaltyChargesCharged: NIL,
    penaltyAdjustments: NIL,
    ...part('penaltyCharges', 0, 0),
    penaltyChargesWaived: NIL,
    penaltyChargesOverdue: NIL,
    totalExpectedRepayment: amount(loan.principal + cost),
    totalRepayment: amount(paid),
    totalExpectedCostOfLoan: amount(cost),
    totalCostOfLoan: amount(account.interestPaid + account.feesPaid),
    totalWaived: NIL,
    totalWrittenOff: NIL,
    totalOutstanding: amount(account.outstanding),
    totalOverdue: amount(late(outstandingOf)),
    overdueSinceDate: day(overdue[0]?.due),
    totalRecovered: NIL,
  }
}

function part(name: string, paid: Paise, outstanding: Paise) {
  return {
    [`${name}Paid`]: amount(paid),
    [`${name}WrittenOff`]: NIL,
    [`${name}Outstanding`]: amount(outstanding),
  }
}
