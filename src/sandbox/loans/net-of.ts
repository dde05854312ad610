import type { Paise } from '../money.ts'
import { atDisbursement } from './fees.ts'
import type { Loan } from './loan.ts'
import { duesOf } from './schedule.ts'

/** What is paid out: the principal without the charges that the disbursal itself pays. */
export function netOf(loan: Loan): Paise {
  return loan.scheduled.principal - atDisbursement(loan.charges, duesOf(loan))
}
