import { amount } from '../http/wire.ts'
import { ACTUAL_MONTH, ACTUAL_YEAR, CUMULATIVE, HORIZONTAL } from '../reference/options.ts'

const NIL = amount(0)

/** Members with the same value on every loan of the lenders' products. */
export const SAME_FOR_ALL = {
  syncDisbursementWithMeeting: false,
  disallowExpectedDisbursements: false,
  collateral: [],
  loanScheduleTypeOptions: [
    { id: 1, code: 'CUMULATIVE', value: 'Cumulative' },
    { id: 2, code: 'PROGRESSIVE', value: 'Progressive' },
  ],
  loanScheduleProcessingTypeOptions: [
    { id: 1, code: 'HORIZONTAL', value: 'Horizontal' },
    { id: 2, code: 'VERTICAL', value: 'Vertical' },
  ],
  multiDisburseLoan: false,
  canDefineInstallmentAmount: false,
  canUseForTopup: false,
  isTopup: false,
  fraud: false,
  closureLoanId: 0,
  isNPA: false,
  overdueCharges: [],
  daysInMonthType: ACTUAL_MONTH,
  daysInYearType: ACTUAL_YEAR,
  createStandingInstructionAtDisbursement: false,
  paidInAdvance: { paidInAdvance: NIL },
  isVariableInstallmentsAllowed: false,
  minimumGap: 0,
  maximumGap: 0,
  isRatesEnabled: false,
  enableInstallmentLevelDelinquency: false,
  chargedOff: false,
  enableDownPayment: false,
  enableAutoRepaymentForDownPayment: false,
  loanScheduleType: CUMULATIVE,
  loanScheduleProcessingType: HORIZONTAL,
}
