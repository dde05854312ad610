import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { decimalOf, idOf, integerOf, plainIntegerOf } from '../fields/number.ts'
import { textOf, trueOf } from '../fields/text.ts'
import { domainRule, integrityIssue, notSupported } from '../http/refusal.ts'
import type { Ledger } from '../storage/ledger.ts'
import { chargeById } from './charges.ts'
import { checkOwnTerms, readOwnTerms } from './own-terms.ts'
import { overrides, type Product, type Range } from './product.ts'

const KEYS = new Set(
  `locale dateFormat name shortName description startDate closeDate currencyCode digitsAfterDecimal
  inMultiplesOf principal minPrincipal maxPrincipal numberOfRepayments minNumberOfRepayments
  maxNumberOfRepayments repaymentEvery repaymentFrequencyType interestRatePerPeriod
  minInterestRatePerPeriod maxInterestRatePerPeriod interestRateFrequencyType amortizationType
  interestType interestCalculationPeriodType transactionProcessingStrategyCode accountingRule
  isInterestRecalculationEnabled daysInYearType daysInMonthType graceOnPrincipalPayment
  graceOnInterestPayment graceOnInterestCharged inArrearsTolerance graceOnArrearsAgeing
  isEqualAmortization canDefineInstallmentAmount allowAttributeOverrides charges multiDisburseLoan
  fixedPrincipalPercentagePerInstallment
  maxTrancheCount outstandingLoanBalance disallowExpectedDisbursements
  allowApprovedDisbursedAmountsOverApplied overAppliedCalculationType overAppliedNumber
  syncExpectedWithDisbursementDate interestRecalculationCompoundingMethod rescheduleStrategyMethod
  recalculationRestFrequencyType preClosureInterestCalculationStrategy`.split(/\s+/),
)
const NEEDED = `name shortName currencyCode digitsAfterDecimal principal numberOfRepayments
  repaymentEvery repaymentFrequencyType interestRatePerPeriod interestRateFrequencyType
  amortizationType interestType interestCalculationPeriodType transactionProcessingStrategyCode
  accountingRule isInterestRecalculationEnabled daysInYearType daysInMonthType`.split(/\s+/)

export function createProduct(ledger: Ledger, body: Body) {
  const { books } = ledger
  refuseUnknownKeys(body, KEYS)
  const check = checks('loanproduct')
  for (const name of NEEDED) check.required(name, textOf(body, name))
  const own = readOwnTerms(body)
  checkOwnTerms(check, own)
  check.throwIfAny()
  const read = { ...readBasics(body), ...readSpecials(body), own, chargeIds: chargeIdsIn(body) }
  refuseCharges(ledger, read)
  refuseTakenName(ledger, read.name)
  const id = books.nextId('product')
  books.define('products', { id, ...read })
  return { resourceId: id }
}

type Basics = ReturnType<typeof readBasics>

function readBasics(body: Body) {
  const integer = (name: string) => integerOf(body, name) ?? 0
  const decimals = (name: string): Range<string> =>
    range(name, field => decimalOf(body, field)?.toFixed(), '0')
  const currencyCode = textOf(body, 'currencyCode') ?? ''
  if (currencyCode !== 'INR') throw notSupported(`products in ${currencyCode}`)
  return {
    name: textOf(body, 'name') ?? '',
    shortName: textOf(body, 'shortName') ?? '',
    description: textOf(body, 'description'),
    currencyCode,
    rounding: {
      decimalPlaces: integer('digitsAfterDecimal'),
      inMultiplesOf: integer('inMultiplesOf'),
    },
    principal: decimals('principal'),
    numberOfRepayments: range('numberOfRepayments', field => integerOf(body, field), 0),
    interestRatePerPeriod: decimals('interestRatePerPeriod'),
    interestRateFrequencyType: integer('interestRateFrequencyType'),
    repaymentEvery: integer('repaymentEvery'),
    repaymentFrequencyType: integer('repaymentFrequencyType'),
    amortizationType: integer('amortizationType'),
    interestType: integer('interestType'),
    interestCalculationPeriodType: integer('interestCalculationPeriodType'),
    transactionProcessingStrategyCode: textOf(body, 'transactionProcessingStrategyCode') ?? '',
    canDefineInstallmentAmount: trueOf(body, 'canDefineInstallmentAmount'),
    startDate: dateOf(body, 'startDate'),
    closeDate: dateOf(body, 'closeDate'),
    syncExpectedWithDisbursementDate: trueOf(body, 'syncExpectedWithDisbursementDate'),
  }
}

function readSpecials(
  body: Body,
): Pick<Product, 'overrides' | 'recalculation' | 'tranches' | 'overApplied'> {
  const integer = (name: string) => plainIntegerOf(body, name) ?? 0
  const sent = (body.allowAttributeOverrides ?? {}) as Body
  return {
    overrides: overrides(name => sent[name] !== false),
    recalculation: trueOf(body, 'isInterestRecalculationEnabled')
      ? {
          compounding: integer('interestRecalculationCompoundingMethod'),
          strategy: integer('rescheduleStrategyMethod'),
          rest: integer('recalculationRestFrequencyType'),
          preClosure: integer('preClosureInterestCalculationStrategy'),
        }
      : undefined,
    tranches: trueOf(body, 'multiDisburseLoan')
      ? {
          most: integer('maxTrancheCount'),
          outstanding: decimalOf(body, 'outstandingLoanBalance')?.toFixed(),
          withoutExpected: trueOf(body, 'disallowExpectedDisbursements'),
        }
      : undefined,
    overApplied: trueOf(body, 'allowApprovedDisbursedAmountsOverApplied')
      ? {
          calculation: textOf(body, 'overAppliedCalculationType') ?? '',
          number: integer('overAppliedNumber'),
        }
      : undefined,
  }
}

function range<T>(name: string, read: (field: string) => T | undefined, none: T): Range<T> {
  const capital = name.charAt(0).toUpperCase() + name.slice(1)
  return { usual: read(name) ?? none, least: read(`min${capital}`), most: read(`max${capital}`) }
}

function chargeIdsIn(body: Body): number[] {
  const sent = Array.isArray(body.charges) ? (body.charges as Body[]) : []
  return sent.map(charge => idOf(charge, 'id') ?? 0)
}

function refuseCharges(
  ledger: Ledger,
  { currencyCode, chargeIds }: Basics & { chargeIds: number[] },
) {
  for (const id of chargeIds) {
    if (chargeById(ledger, id).currencyCode === currencyCode) continue
    const message = 'Charge and Loan Product must have the same currency.'
    throw domainRule('error.msg.charge.attach.to.loan.product.invalid.currency', message)
  }
}

function refuseTakenName({ books }: Ledger, name: string): void {
  if (![...books.defined.products.values()].some(product => product.name === name)) return
  const message = `Loan product with name \`${name}\` already exists`
  throw integrityIssue('error.msg.product.loan.duplicate.name', message, 'name', name)
}
