import type { Body } from '../fields/body.ts'
import { domainRule, notFound } from '../http/refusal.ts'
import { day, rate } from '../http/wire.ts'
import { strategyName } from '../loans/strategy.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { chargeById, chargeView } from './charges.ts'
import { currencyByCode } from './currency.ts'
import {
  ACTUAL_MONTH,
  ACTUAL_YEAR,
  amortization,
  CUMULATIVE,
  frequency,
  HORIZONTAL,
  interestCalculation,
  interestMethod,
  rateFrequency,
} from './options.ts'
import { ownTermsView } from './own-terms.ts'
import type { Product } from './product.ts'
import { annualRate, recalculationView } from './rates.ts'

export function productsView(ledger: Ledger) {
  return [...ledger.books.defined.products.values()].map(product => productView(ledger, product))
}

/** A product that is read alone has its charges. */
export function productWithCharges(ledger: Ledger, product: Product) {
  const charges = product.chargeIds.map(id => chargeView(chargeById(ledger, id)))
  return { ...productView(ledger, product), charges }
}

export function productById(ledger: Ledger, id: number): Product {
  const product = ledger.books.defined.products.get(id)
  if (product) return product
  const message = `Loan product with identifier ${id} does not exist`
  throw notFound('error.msg.loanproduct.id.invalid', message, id)
}

/** A loan can be submitted while its product is open. */
export function refuseClosedProduct(product: Product, submittedOn: string | undefined): void {
  const { startDate, closeDate } = product
  if (submittedOn === undefined) return
  const refusal = (when: string, what: string) =>
    domainRule(
      `error.msg.loan.application.submitted.on.date.cannot.be.${when}.the.loan.product.${what.toLowerCase()}.date`,
      `submittedOnDate cannot be ${when} the loan product ${what.toLowerCase()}Date.`,
    )
  if (startDate !== undefined && submittedOn < startDate) throw refusal('before', 'start')
  if (closeDate !== undefined && submittedOn > closeDate) throw refusal('after', 'close')
}

/** An application for a product with tranches lists them, unless the product has none expected. */
export function refuseUntoldTranches({ tranches }: Product, { disbursementData }: Body): void {
  if (tranches === undefined || tranches.withoutExpected || disbursementData !== undefined) return
  const message = 'For this loan product, disbursement details must be provided'
  throw domainRule('error.msg.disbursementData.required', message)
}

function productView(ledger: Ledger, product: Product) {
  const { id, name, shortName, description, startDate, closeDate } = product
  const isOpen = closeDate === undefined || closeDate >= today(ledger)
  return {
    id,
    name,
    shortName,
    description,
    includeInBorrowerCycle: false,
    useBorrowerCycle: false,
    startDate: day(startDate),
    closeDate: day(closeDate),
    status: isOpen ? 'loanProduct.active' : 'loanProduct.inActive',
    currency: currencyByCode(product.currencyCode, product.rounding),
    ...termsView(product),
    ...methodsView(product),
    principalVariationsForBorrowerCycle: [],
    interestRateVariationsForBorrowerCycle: [],
    numberOfRepaymentVariationsForBorrowerCycle: [],
    accountingRule: { id: 1, code: 'accountingRuleType.none', value: 'NONE' },
    canUseForTopup: false,
    isRatesEnabled: false,
    rates: [],
    ...disbursementsView(product),
    delinquencyBucketOptions: [],
    enableDownPayment: false,
    enableAutoRepaymentForDownPayment: false,
    enableInstallmentLevelDelinquency: false,
    loanScheduleType: CUMULATIVE,
    loanScheduleProcessingType: HORIZONTAL,
  }
}

function termsView(product: Product) {
  const { principal, numberOfRepayments, interestRatePerPeriod } = product
  return {
    principal: rate(principal.usual),
    minPrincipal: principal.least && rate(principal.least),
    maxPrincipal: principal.most && rate(principal.most),
    numberOfRepayments: numberOfRepayments.usual,
    minNumberOfRepayments: numberOfRepayments.least,
    maxNumberOfRepayments: numberOfRepayments.most,
    repaymentEvery: product.repaymentEvery,
    repaymentFrequencyType: frequency('repaymentFrequency', product.repaymentFrequencyType),
    interestRatePerPeriod: rate(interestRatePerPeriod.usual),
    minInterestRatePerPeriod: interestRatePerPeriod.least && rate(interestRatePerPeriod.least),
    maxInterestRatePerPeriod: interestRatePerPeriod.most && rate(interestRatePerPeriod.most),
    interestRateFrequencyType: rateFrequency(product.interestRateFrequencyType),
    annualInterestRate: annualRate(interestRatePerPeriod.usual, product.interestRateFrequencyType),
    ...ownTermsView(product.own),
    isLinkedToFloatingInterestRates: false,
    isFloatingInterestRateCalculationAllowed: false,
    allowVariableInstallments: false,
    minimumGap: 0,
    maximumGap: 0,
  }
}

function methodsView(product: Product) {
  const { transactionProcessingStrategyCode, recalculation } = product
  return {
    amortizationType: amortization(product.amortizationType),
    interestType: interestMethod(product.interestType),
    interestCalculationPeriodType: interestCalculation(product.interestCalculationPeriodType),
    allowPartialPeriodInterestCalculation: false,
    transactionProcessingStrategyCode,
    transactionProcessingStrategyName: strategyName(transactionProcessingStrategyCode),
    paymentAllocation: [],
    creditAllocation: [],
    daysInMonthType: ACTUAL_MONTH,
    daysInYearType: ACTUAL_YEAR,
    isInterestRecalculationEnabled: recalculation !== undefined,
    interestRecalculationData: recalculation && recalculationView(recalculation),
    canDefineInstallmentAmount: product.canDefineInstallmentAmount,
    repaymentStartDateType: {
      id: 1,
      code: 'repaymentStartDateType.disbursementDate',
      value: 'Disbursement Date',
    },
    supportedInterestRefundTypes: [],
  }
}

function disbursementsView(product: Product) {
  const { tranches, overApplied } = product
  return {
    multiDisburseLoan: tranches !== undefined,
    maxTrancheCount: tranches?.most ?? 0,
    outstandingLoanBalance: tranches?.outstanding && rate(tranches.outstanding),
    disallowExpectedDisbursements: tranches?.withoutExpected ?? false,
    allowApprovedDisbursedAmountsOverApplied: overApplied !== undefined,
    overAppliedCalculationType: overApplied?.calculation,
    overAppliedNumber: overApplied?.number ?? 0,
    principalThresholdForLastInstallment: rate('0'),
    holdGuaranteeFunds: false,
    accountMovesOutOfNPAOnlyOnArrearsCompletion: false,
    allowAttributeOverrides: { ...product.overrides, isNew: true },
    syncExpectedWithDisbursementDate: product.syncExpectedWithDisbursementDate,
  }
}
