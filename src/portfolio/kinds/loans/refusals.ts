import { dayText, isoDay, textOfIso } from '../../../day.ts'
import type { Data } from '../../../engine/operation.ts'
import { laterDay, sortable } from '../../../ledger/day-format.ts'
import type { LedgerLoan } from '../../../ledger/loans/loan.ts'
import { type LoanProduct, wantsTranches } from '../../../ledger/loans/product.ts'
import type { Application } from '../../../operations/loan-create.ts'
import { wholeTerm } from '../../../operations/terms/whole-term.ts'
import { futureDay, notExact } from '../refusals.ts'

/** What is read before the first write of a row; refusals follow from it. */
export type LoanFacts = {
  businessDate: string
  openingDate: string | undefined
  product: LoanProduct
  /** Whether a loan of a portfolio gets what its product prescribes. */
  isCopied: boolean
  isClientInactive: boolean
  /** Why a disbursement cannot keep its UTR. */
  noPaymentType: string[]
  /** The loan; undefined if the row creates it. */
  loan: LedgerLoan | undefined
}

type Client = { activationDate: string }
type Approval = { approvedOnDate: string }
type Disbursal = {
  actualDisbursementDate: string
  transactionAmount: number
  utr_payment_id?: string
}

export function clientRefusals(data: Data, { businessDate, openingDate }: LoanFacts): string[] {
  const { activationDate } = data as Client
  const isBefore = openingDate !== undefined && sortable(activationDate) < openingDate
  return [
    ...futureDay('client_activation_date', activationDate, businessDate),
    ...(isBefore
      ? [
          `client_activation_date is before the opening of the ledger’s office, ${textOfIso(openingDate)}`,
        ]
      : []),
  ]
}

export function loanRefusals(data: Data, facts: LoanFacts): string[] {
  const wanted = data as Application
  const { product, businessDate } = facts
  return [
    ...notExact(product.currency, wanted.principal),
    ...inactiveClient(facts),
    ...futureDay('submitted_on_date', wanted.submittedOnDate, businessDate),
    ...outsideSale(product, sortable(wanted.submittedOnDate)),
    ...floatingRate(product),
    ...untoldTranches(product),
    ...beyondLimits(product, wanted),
    ...otherRhythm(product, wanted),
    ...longerGrace(facts, wanted.numberOfRepayments),
  ]
}

export function approvalRefusals(data: Data, facts: LoanFacts): string[] {
  const { approvedOnDate } = data as Approval
  return [
    ...inactiveClient(facts),
    ...futureDay('approved_on_date', approvedOnDate, facts.businessDate),
  ]
}

/** @param approval undefined if the loan is approved already */
export function disbursalRefusals(
  data: Data,
  facts: LoanFacts,
  application: Data,
  approval: Data | undefined,
): string[] {
  const { actualDisbursementDate, transactionAmount, utr_payment_id } = data as Disbursal
  const { product, businessDate, loan } = facts
  const { submittedOnDate } = application as Application
  const there = loan?.timeline.expectedDisbursementDate
  const expected = there === undefined ? submittedOnDate : dayText(there)
  const expectedBy =
    approval === undefined ? expected : laterDay(expected, (approval as Approval).approvedOnDate)
  return [
    ...notExact(product.currency, transactionAmount),
    ...inactiveClient(facts),
    ...futureDay('disbursed_on_date', actualDisbursementDate, businessDate),
    ...(utr_payment_id === undefined ? [] : facts.noPaymentType),
    ...(product.syncExpectedWithDisbursementDate && actualDisbursementDate !== expectedBy
      ? [`disbursed_on_date must be the expected day, ${expectedBy}, ${forProduct(product)}`]
      : []),
  ]
}

const inactiveClient = ({ isClientInactive }: LoanFacts) =>
  isClientInactive ? ['its client is not active at the ledger'] : []

function outsideSale({ name, startDate, closeDate }: LoanProduct, submitted: string): string[] {
  if (startDate !== undefined && submitted < isoDay(startDate))
    return [`submitted_on_date is before the loan product ${name} starts, ${dayText(startDate)}`]
  return closeDate !== undefined && submitted > isoDay(closeDate)
    ? [`submitted_on_date is after the loan product ${name} closed, ${dayText(closeDate)}`]
    : []
}

const floatingRate = ({ name, isLinkedToFloatingInterestRates }: LoanProduct) =>
  isLinkedToFloatingInterestRates
    ? [`interest_rate_per_period is not taken: the loan product ${name} has a floating rate`]
    : []

const untoldTranches = (product: LoanProduct) =>
  wantsTranches(product)
    ? [`the loan product ${product.name} wants the tranches of each loan, which no file states`]
    : []

type Limit = number | undefined

function beyondLimits(product: LoanProduct, wanted: Application): string[] {
  if (product.useBorrowerCycle) return []
  const { principal, numberOfRepayments, interestRatePerPeriod } = wanted
  const limits: [column: string, value: number, least: Limit, most: Limit][] = [
    ['principal', principal, product.minPrincipal, product.maxPrincipal],
    [
      'number_of_repayments',
      numberOfRepayments,
      product.minNumberOfRepayments,
      product.maxNumberOfRepayments,
    ],
    [
      'interest_rate_per_period',
      interestRatePerPeriod,
      product.minInterestRatePerPeriod,
      product.maxInterestRatePerPeriod,
    ],
  ]
  return limits.flatMap(([column, value, least, most]) => {
    if (least !== undefined && value < least)
      return [`${column} must be at least ${least} ${forProduct(product)}`]
    return most !== undefined && value > most
      ? [`${column} must be at most ${most} ${forProduct(product)}`]
      : []
  })
}

/**
 * Refuses another rhythm where the product forbids it: the ledger takes the product's number of periods between
 * repayments, whatever a request says.
 */
function otherRhythm(product: LoanProduct, wanted: Application): string[] {
  const { repaymentEvery, allowAttributeOverrides } = product
  if (repaymentEvery === undefined || allowAttributeOverrides?.repaymentEvery !== false) return []
  const { loanTermFrequencyType = 'months' } = wanted
  const { loanTermFrequency, numberOfRepayments } = wholeTerm({ ...wanted, loanTermFrequencyType })
  return loanTermFrequency === numberOfRepayments * repaymentEvery
    ? []
    : [
        `loan_term_frequency must be ${repaymentEvery} times number_of_repayments ${forProduct(product)}`,
      ]
}

function longerGrace({ product, isCopied }: LoanFacts, repayments: number): string[] {
  const isPrescribed =
    isCopied || product.allowAttributeOverrides?.graceOnPrincipalAndInterestPayment === false
  const grace = Math.max(
    isPrescribed ? Number(product.graceOnPrincipalPayment ?? 0) : 0,
    isPrescribed ? Number(product.graceOnInterestPayment ?? 0) : 0,
    // The ledger accepts this grace for as many periods as there are repayments.
    isCopied ? Number(product.graceOnInterestCharged ?? 0) - 1 : 0,
  )
  return repayments > grace
    ? []
    : [`number_of_repayments must be more than ${grace}, because of the grace of ${product.name}`]
}

const forProduct = ({ name }: LoanProduct) => `for the loan product ${name}`
