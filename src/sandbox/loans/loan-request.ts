import type { Decimal } from 'decimal.js'
import type { Body } from '../fields/body.ts'
import { dateOf } from '../fields/date.ts'
import { decimalOf, idOf, integerOf, plainIntegerOf } from '../fields/number.ts'
import { textOf } from '../fields/text.ts'
import { notSupported } from '../http/refusal.ts'
import type { Product } from '../reference/product.ts'
import type { LoanTerms } from './loan.ts'
import { NOT_SUPPORTED_KEYS } from './loan-keys.ts'
import { readShape, type Shape, shapeFor } from './shape.ts'

type Sent<T> = { [Name in keyof T]: T[Name] | undefined }

/** A member that was not sent is undefined. */
export type LoanRequest = Sent<
  Omit<
    LoanTerms,
    | 'interestRatePerPeriod'
    | 'interestRateFrequencyType'
    | 'productRateFrequency'
    | 'rounding'
    | 'shape'
    | 'recalculates'
  >
> & {
  loanType: string | undefined
  productId: number | undefined
  clientId: number | undefined
  externalId: string | undefined
  principal: Decimal | undefined
  interestRatePerPeriod: Decimal | undefined
  expectedDisbursementDate: string | undefined
  submittedOnDate: string | undefined
  submittedOnNote: string | undefined
  shape: Shape
}

export const LOAN_TYPES = ['individual', 'group', 'jlg', 'glim']

/** Reads in Fineract's order, because only the first field that cannot be parsed is reported. */
export function readLoanRequest(body: Body): LoanRequest {
  const request = {
    loanType: textOf(body, 'loanType'),
    productId: idOf(body, 'productId'),
    clientId: idOf(body, 'clientId'),
    externalId: textOf(body, 'externalId'),
    principal: decimalOf(body, 'principal'),
    loanTermFrequency: integerOf(body, 'loanTermFrequency'),
    loanTermFrequencyType: plainIntegerOf(body, 'loanTermFrequencyType'),
    numberOfRepayments: integerOf(body, 'numberOfRepayments'),
    repaymentEvery: integerOf(body, 'repaymentEvery'),
    repaymentFrequencyType: plainIntegerOf(body, 'repaymentFrequencyType'),
    interestType: plainIntegerOf(body, 'interestType'),
    interestCalculationPeriodType: plainIntegerOf(body, 'interestCalculationPeriodType'),
    interestRatePerPeriod: decimalOf(body, 'interestRatePerPeriod'),
    amortizationType: plainIntegerOf(body, 'amortizationType'),
    expectedDisbursementDate: dateOf(body, 'expectedDisbursementDate'),
    submittedOnDate: dateOf(body, 'submittedOnDate'),
    submittedOnNote: textOf(body, 'submittedOnNote'),
    transactionProcessingStrategyCode: textOf(body, 'transactionProcessingStrategyCode'),
    shape: readShape(body),
  }
  const unsupported = NOT_SUPPORTED_KEYS.find(key => isRequested(body[key]))
  if (unsupported !== undefined) throw notSupported(`loans with ${unsupported}`)
  return request
}

/** What a product lets no loan override is the product's. */
export function requestFor(product: Product, sent: LoanRequest): LoanRequest {
  const own = PRODUCT_TERMS.filter(name => sent[name] !== undefined && !product.overrides[name])
  const prescribed = Object.fromEntries(own.map(name => [name, product[name]]))
  return { ...sent, ...prescribed, shape: shapeFor(product, sent.shape) }
}

const PRODUCT_TERMS = [
  'amortizationType',
  'interestType',
  'interestCalculationPeriodType',
  'transactionProcessingStrategyCode',
  'repaymentEvery',
] as const

const isRequested = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : Boolean(value) && value !== '0'
