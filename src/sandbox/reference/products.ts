import { notFound } from '../http/refusal.ts'
import { amount, rate } from '../http/wire.ts'
import type { Ledger } from '../storage/ledger.ts'
import { rupee } from './currency.ts'
import {
  ACTUAL_MONTH,
  ACTUAL_YEAR,
  amortization,
  CUMULATIVE,
  frequency,
  HORIZONTAL,
  interestMethod,
  PER_YEAR,
  SAME_AS_REPAYMENT,
} from './options.ts'

const LENDERS = 9

const PRODUCTS = Array.from({ length: LENDERS }, (_, i) => product(i + 1))

export function productsOf({ roundings }: Ledger) {
  return PRODUCTS.map(one => ({ ...one, currency: rupee(roundings.get(one.id)) }))
}

export function productById(ledger: Ledger, id: number) {
  refuseUnknownProduct(id)
  return { ...productsOf(ledger)[id - 1], charges: [] }
}

export function productName(id: number): string {
  return `LENDER_0${id}`
}

export function productDescription(id: number): string {
  return `Contract-test product ${productName(id)}`
}

export function refuseUnknownProduct(id: number): void {
  if (id >= 1 && id <= LENDERS) return
  const message = `Loan product with identifier ${id} does not exist`
  throw notFound('error.msg.loanproduct.id.invalid', message, id)
}

function product(id: number) {
  return {
    id,
    name: productName(id),
    shortName: `L0${id}`,
    description: productDescription(id),
    includeInBorrowerCycle: false,
    useBorrowerCycle: false,
    status: 'loanProduct.active',
    currency: rupee(),
    ...terms(),
    ...methods(),
    principalVariationsForBorrowerCycle: [],
    interestRateVariationsForBorrowerCycle: [],
    numberOfRepaymentVariationsForBorrowerCycle: [],
    accountingRule: { id: 1, code: 'accountingRuleType.none', value: 'NONE' },
    canUseForTopup: false,
    isRatesEnabled: false,
    rates: [],
    ...disbursements(),
    delinquencyBucketOptions: [],
    enableDownPayment: false,
    enableAutoRepaymentForDownPayment: false,
    enableInstallmentLevelDelinquency: false,
    loanScheduleType: CUMULATIVE,
    loanScheduleProcessingType: HORIZONTAL,
  }
}

function terms() {
  return {
    principal: amount(50_000_00),
    minPrincipal: amount(100_00),
    maxPrincipal: amount(10_000_000_00),
    numberOfRepayments: 12,
    minNumberOfRepayments: 1,
    maxNumberOfRepayments: 360,
    repaymentEvery: 1,
    repaymentFrequencyType: frequency('repaymentFrequency', 2),
    interestRatePerPeriod: rate('18'),
    minInterestRatePerPeriod: rate('0'),
    maxInterestRatePerPeriod: rate('100'),
    interestRateFrequencyType: PER_YEAR,
    annualInterestRate: rate('18'),
    isLinkedToFloatingInterestRates: false,
    isFloatingInterestRateCalculationAllowed: false,
    allowVariableInstallments: false,
    minimumGap: 0,
    maximumGap: 0,
  }
}

function methods() {
  return {
    amortizationType: amortization(1),
    interestType: interestMethod(0),
    interestCalculationPeriodType: SAME_AS_REPAYMENT,
    allowPartialPeriodInterestCalculation: false,
    transactionProcessingStrategyCode: 'mifos-standard-strategy',
    transactionProcessingStrategyName: 'Penalties, Fees, Interest, Principal order',
    paymentAllocation: [],
    creditAllocation: [],
    daysInMonthType: ACTUAL_MONTH,
    daysInYearType: ACTUAL_YEAR,
    isInterestRecalculationEnabled: false,
    canDefineInstallmentAmount: false,
    repaymentStartDateType: {
      id: 1,
      code: 'repaymentStartDateType.disbursementDate',
      value: 'Disbursement Date',
    },
    supportedInterestRefundTypes: [],
  }
}

function disbursements() {
  return {
    multiDisburseLoan: false,
    maxTrancheCount: 0,
    disallowExpectedDisbursements: false,
    allowApprovedDisbursedAmountsOverApplied: false,
    overAppliedNumber: 0,
    principalThresholdForLastInstallment: amount(0),
    holdGuaranteeFunds: false,
    accountMovesOutOfNPAOnlyOnArrearsCompletion: false,
    allowAttributeOverrides: {
      amortizationType: true,
      interestType: true,
      transactionProcessingStrategyCode: true,
      interestCalculationPeriodType: true,
      inArrearsTolerance: true,
      repaymentEvery: true,
      graceOnPrincipalAndInterestPayment: true,
      graceOnArrearsAgeing: true,
      isNew: true,
    },
    syncExpectedWithDisbursementDate: false,
    isEqualAmortization: false,
  }
}
