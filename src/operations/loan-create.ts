import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Lender } from '../config/lenders.ts'
import { type Attempt, clientSubject, loanSubject, operation } from '../engine/operation.ts'
import { isRemoved } from '../engine/refuse-lagging.ts'
import { DayField } from '../http/fields/day-fields.ts'
import { Amount, Count, Rate } from '../http/fields/number-fields.ts'
import { oneOf, only, optionalText } from '../http/fields/schemas.ts'
import { ClientId, ExternalId } from '../http/fields/text-fields.ts'
import { WHY } from '../http/fields/why.ts'
import { type LedgerClient, readClient } from '../ledger/client-record.ts'
import { dayFormat } from '../ledger/day-format.ts'
import { absent, compared, dayThere, differencesIn } from '../ledger/effect.ts'
import { chargesOf } from '../ledger/loans/charges.ts'
import {
  FREQUENCIES,
  foundIn,
  type LedgerLoan,
  loanAnswer,
  ratePeriodOf,
  SUBMITTED,
} from '../ledger/loans/loan.ts'
import { findLoan, submitLoan } from '../ledger/loans/loan-calls.ts'
import { ownTerms } from '../ledger/loans/own-terms.ts'
import type { LoanProduct } from '../ledger/loans/product.ts'
import { roundingRefusal } from './rounding-refusal.ts'
import { RATE_PERIOD } from './terms/rate-period.ts'
import { wholeTerm } from './terms/whole-term.ts'

export const LoanTermFrequencyType = oneOf(['days', 'weeks', 'months', 'years'])

/** Each lender has its own loan product. */
export function loanCreate(lenders: ReadonlyMap<string, Lender>) {
  const productOf = ({ lenderConfig }: Application) =>
    lenders.get(lenderConfig)?.product ?? lenderConfig
  const wanted = ({ kept }: Attempt, data: Application) =>
    (kept.product as LoanProduct | undefined) ?? { name: productOf(data) }

  return operation<ReturnType<typeof schemaFor>>({
    name: 'LOAN_CREATE',
    summary: 'Submits a client’s loan application',
    permissions: ['CREATE_LOAN'],
    loanState: 'submitted',
    schema: schemaFor([...lenders.keys()]),
    check: checkTerm,
    externalId: data => data.externalId,
    subject: data => loanSubject(data.externalId),
    waitsFor: data => clientSubject(data.clientId),

    async run(attempt, data) {
      const product = await attempt.keep('product', async () => {
        const found = await attempt.reference.product(productOf(data), data.lenderConfig)
        await attempt.keep(RATE_PERIOD, async () => ratePeriodOf(found))
        return termsOf(found)
      })
      const rounded = roundingRefusal(product.currency, data.principal)
      if (rounded !== undefined) return rounded
      const client = await readClient(attempt.ledger, data.clientId)
      if (client.outcome === 'refused') return client
      const terms = await attempt.keep('terms', () =>
        productTerms(attempt, lenders.get(data.lenderConfig), product.id, data),
      )
      return submitLoan(attempt, { ...application(data, product, client.body), ...terms })
    },

    async find(attempt, data) {
      const loan = await findLoan(attempt.ledger, data.externalId)
      const isOurs = loan && differences(loan, data, wanted(attempt, data)).length === 0
      return isOurs && !(await isRemoved(attempt, loan)) ? foundIn(SUBMITTED, loan) : absent
    },

    async findEqual(attempt, data) {
      const loan = await findLoan(attempt.ledger, data.externalId)
      if (loan === undefined) return absent
      const name = loan.loanProductName
      // The loan may be older than the lender's newest product.
      const isOfLender = lenders.get(data.lenderConfig)?.products.includes(name)
      const product = isOfLender ? { name } : wanted(attempt, data)
      return compared(loanAnswer(loan), differences(loan, data, product))
    },
  })
}

/** A caller has no fields for what the lender's product prescribes. */
async function productTerms(
  { reference, origin }: Attempt,
  lender: Lender | undefined,
  productId: number,
  { principal }: Application,
) {
  const isCopied = origin === 'migration' ? lender?.terms.toPortfolio : lender?.terms.copied
  if (!isCopied) return {}
  const product = await reference.productWithTerms(productId)
  return { ...ownTerms(product), charges: chargesOf(product, principal) }
}

function schemaFor(lenders: string[]) {
  return only({
    lenderConfig: oneOf(lenders, `a lender: ${lenders.join(', ')}`),
    externalId: ExternalId,
    principal: Amount,
    submittedOnDate: DayField,
    loanTermFrequency: Count,
    loanTermFrequencyType: optionalText({
      ...LoanTermFrequencyType,
      // The text is in the description: some generators take `default` for required.
      description: `${LoanTermFrequencyType.description}; months if absent`,
      [WHY]: () => `must be ${LoanTermFrequencyType.description}`,
    }),
    numberOfRepayments: Count,
    interestRatePerPeriod: Rate,
    clientId: ClientId,
  })
}
export type Application = Static<ReturnType<typeof schemaFor>>

const termShape = TypeCompiler.Compile(
  Type.Object({
    loanTermFrequency: Count,
    loanTermFrequencyType: Type.Optional(LoanTermFrequencyType),
    numberOfRepayments: Count,
  }),
)

function checkTerm(data: Application) {
  // This runs before the schema's own check, which reports each wrong value for its own field.
  if (!termShape.Check(data)) return []
  const { loanTermFrequency, numberOfRepayments } = takenTerm(data)
  const notMultiple = 'must be a multiple of numberOfRepayments'
  const numbers = `${data.loanTermFrequency} is no multiple of ${numberOfRepayments}`
  return loanTermFrequency % numberOfRepayments === 0
    ? []
    : [{ path: '/loanTermFrequency', message: `${notMultiple}: ${numbers}` }]
}

/** Fineract wants the client and the product by number, and the product's terms repeated. */
function application(data: Application, product: LoanProduct, client: LedgerClient) {
  const { submittedOnDate } = data
  const { loanTermFrequency, loanTermFrequencyType, numberOfRepayments } = takenTerm(data)
  const frequency = FREQUENCIES[loanTermFrequencyType]
  return {
    loanType: 'individual',
    clientId: client.id,
    productId: product.id,
    externalId: data.externalId,
    principal: data.principal,
    loanTermFrequency,
    loanTermFrequencyType: frequency,
    numberOfRepayments,
    repaymentEvery: loanTermFrequency / numberOfRepayments,
    repaymentFrequencyType: frequency,
    interestRatePerPeriod: data.interestRatePerPeriod,
    interestType: product.interestType.id,
    interestCalculationPeriodType: product.interestCalculationPeriodType.id,
    amortizationType: product.amortizationType.id,
    transactionProcessingStrategyCode: product.transactionProcessingStrategyCode,
    submittedOnDate,
    // Callers do not send it; LOAN_APPROVE moves it if the approval is later.
    expectedDisbursementDate: submittedOnDate,
    ...dayFormat,
  }
}

/** The terms of a product that an application needs. */
function termsOf(product: LoanProduct): LoanProduct {
  return {
    id: product.id,
    name: product.name,
    currency: product.currency,
    interestType: product.interestType,
    interestCalculationPeriodType: product.interestCalculationPeriodType,
    amortizationType: product.amortizationType,
    transactionProcessingStrategyCode: product.transactionProcessingStrategyCode,
  }
}

/** @param product with its id if an application was sent: it may have been renamed since, here or there */
function differences(
  loan: LedgerLoan,
  data: Application,
  product: Pick<LoanProduct, 'name'> & { id?: number },
): string[] {
  const isOfProduct =
    product.id === undefined
      ? loan.loanProductName === product.name
      : loan.loanProductId === product.id
  const term = takenTerm(data)
  return differencesIn(
    ['product', isOfProduct ? product.name : loan.loanProductName, product.name],
    // Not every ledger shows the client's external id with the loan.
    ['clientId', loan.clientExternalId ?? data.clientId, data.clientId],
    ['principal', loan.proposedPrincipal, data.principal],
    ['loanTermFrequency', loan.termFrequency, term.loanTermFrequency],
    [
      'loanTermFrequencyType',
      loan.termPeriodFrequencyType.id,
      FREQUENCIES[term.loanTermFrequencyType],
    ],
    ['numberOfRepayments', loan.numberOfRepayments, data.numberOfRepayments],
    ['interestRatePerPeriod', loan.interestRatePerPeriod, data.interestRatePerPeriod],
    ['submittedOnDate', dayThere(loan.timeline.submittedOnDate), data.submittedOnDate],
  )
}

function takenTerm({
  loanTermFrequency,
  loanTermFrequencyType = 'months',
  numberOfRepayments,
}: Application) {
  return wholeTerm({ loanTermFrequency, loanTermFrequencyType, numberOfRepayments })
}
