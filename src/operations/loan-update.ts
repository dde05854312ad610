import type { Static } from '@sinclair/typebox'
import { dayText } from '../day.ts'
import { loanSubject, operation } from '../engine/operation.ts'
import { refusal } from '../engine/refusal.ts'
import { refuseLagging } from '../engine/refuse-lagging.ts'
import { DayField } from '../http/fields/day-fields.ts'
import { Amount, Count, Rate } from '../http/fields/number-fields.ts'
import { change, updateOf } from '../http/fields/schemas.ts'
import { ExternalId } from '../http/fields/text-fields.ts'
import { dayFormat, isSameDay, laterDay } from '../ledger/day-format.ts'
import { absent } from '../ledger/effect.ts'
import {
  FREQUENCIES,
  foundIn,
  frequencyOf,
  type LedgerCharge,
  type LedgerLoan,
  loanAnswer,
  ratePeriodOf,
  SUBMITTED,
} from '../ledger/loans/loan.ts'
import { findLoan, readLoan, updateLoan } from '../ledger/loans/loan-calls.ts'
import { ownTerms } from '../ledger/loans/own-terms.ts'
import { uncollected } from '../ledger/loans/uncollected.ts'
import { unkeptTerm } from '../ledger/loans/unkept-term.ts'
import { LoanTermFrequencyType } from './loan-create.ts'
import { roundingRefusal } from './rounding-refusal.ts'
import { RATE_PERIOD } from './terms/rate-period.ts'
import { refuseUntypedTerm } from './terms/refuse-untyped-term.ts'
import { inFinerPeriods, wholeTerm } from './terms/whole-term.ts'

const schema = updateOf(ExternalId, {
  principal: change(Amount),
  submittedOnDate: change(DayField),
  loanTermFrequency: change(Count),
  loanTermFrequencyType: change(LoanTermFrequencyType),
  numberOfRepayments: change(Count),
  interestRatePerPeriod: change(Rate),
})
type Changes = Omit<Static<typeof schema>, 'externalId'>

const UPDATE = 'LOAN_UPDATE'
/** Fineract's way of calculating interest by the periods of the repayments. */
const SAME_AS_REPAYMENT = 1

export const loanUpdate = operation({
  name: UPDATE,
  summary: 'Changes the terms of a loan that awaits approval',
  permissions: ['UPDATE_LOAN'],
  schema,
  refuse: refuseUntypedTerm,
  externalId: data => data.externalId,
  subject: data => loanSubject(data.externalId),

  async run(attempt, { externalId, ...changes }) {
    const found = await readLoan(attempt.ledger, externalId, 'charges')
    if (found.outcome === 'refused') return found
    const rounded = roundingRefusal(found.body.currency, changes.principal)
    if (rounded !== undefined) return rounded
    const unkept = unkeptTerm(found.body)
    if (unkept !== undefined) {
      const message = `LoanOps cannot keep the loan’s ${unkept}: change the loan at the ledger instead`
      return refusal('409', 'loanops.term.not.kept', message)
    }
    // A term that an update converted stays converted with fewer repayments.
    await refuseLagging<Changes>(attempt, UPDATE, found, left =>
      [left, inFinerPeriods(left)].some(terms => alreadyHas(found.body, terms)),
    )
    const taken = takenChanges(found.body, changes)
    const body = mergeChanges(found.body, taken)
    if (!Number.isInteger(body.repaymentEvery))
      return refusal('400', 'loanops.term.not.multiple', notMultiple(body))
    const lost = uncollected(found.body, body)
    if (lost !== undefined) return refusal('409', 'loanops.charge.not.collected', lost)
    if (changes.interestRatePerPeriod !== undefined)
      await attempt.keep(RATE_PERIOD, async () => ratePeriodOf(found.body))
    const changed = Object.entries(taken).filter(
      ([name, value]) => !alreadyHas(found.body, { [name]: value }),
    )
    return updateLoan(
      attempt,
      externalId,
      body,
      changed.map(([name]) => name),
    )
  },

  async find({ ledger }, { externalId, ...changes }) {
    const loan = await findLoan(ledger, externalId, 'charges')
    if (loan === undefined) return absent
    const taken = takenChanges(loan, changes)
    if (!alreadyHas(loan, taken)) return absent
    const body = { ...loanAnswer(loan), changes: asChanges(loan, taken) }
    return foundIn(SUBMITTED, loan, body)
  },
})

/**
 * The changes with the loan's own type for a term without one, which a conversion would change: intake refuses what
 * could be meant otherwise.
 */
function takenChanges(loan: LedgerLoan, changes: Changes): Changes {
  const { loanTermFrequency, loanTermFrequencyType } = changes
  if (loanTermFrequency === undefined || loanTermFrequencyType === undefined) return changes
  const numberOfRepayments = changes.numberOfRepayments ?? loan.numberOfRepayments
  const term = wholeTerm({ loanTermFrequency, loanTermFrequencyType, numberOfRepayments })
  return {
    ...changes,
    loanTermFrequency: term.loanTermFrequency,
    loanTermFrequencyType: term.loanTermFrequencyType,
  }
}

/** Fineract rebuilds the schedule from the body alone, drops missing charges and replaces those without id. */
function mergeChanges(loan: LedgerLoan, changes: Changes) {
  const submittedOnDate = changes.submittedOnDate ?? dayText(loan.timeline.submittedOnDate)
  const expected = loan.timeline.expectedDisbursementDate
  const loanTermFrequency = changes.loanTermFrequency ?? loan.termFrequency
  const numberOfRepayments = changes.numberOfRepayments ?? loan.numberOfRepayments
  const frequency =
    changes.loanTermFrequencyType === undefined
      ? loan.termPeriodFrequencyType.id
      : FREQUENCIES[changes.loanTermFrequencyType]
  return {
    loanType: 'individual',
    clientId: loan.clientId,
    productId: loan.loanProductId,
    principal: changes.principal ?? loan.proposedPrincipal,
    loanTermFrequency,
    loanTermFrequencyType: frequency,
    numberOfRepayments,
    repaymentEvery: loanTermFrequency / numberOfRepayments,
    repaymentFrequencyType: frequency,
    interestRatePerPeriod: changes.interestRatePerPeriod ?? loan.interestRatePerPeriod,
    interestType: loan.interestType.id,
    interestCalculationPeriodType: loan.interestCalculationPeriodType.id,
    ...partPeriods(loan),
    amortizationType: loan.amortizationType.id,
    transactionProcessingStrategyCode: loan.transactionProcessingStrategyCode,
    submittedOnDate,
    // Fineract refuses a loan that is submitted after its expected disbursement.
    expectedDisbursementDate:
      expected === undefined ? submittedOnDate : laterDay(dayText(expected), submittedOnDate),
    charges: (loan.charges ?? []).map(chargeToSend),
    ...ownTerms(loan),
    ...startDates(loan),
    ...dayFormat,
  }
}

/** A term in years or weeks is converted where a caller names it with its type, which not all need to know. */
function notMultiple(body: ReturnType<typeof mergeChanges>): string {
  const { loanTermFrequency, numberOfRepayments } = body
  const reason = `The loan would have a term of ${loanTermFrequency}, which is not a multiple of its ${numberOfRepayments} repayments`
  const type = frequencyOf(body.loanTermFrequencyType)
  if (type === undefined) return reason
  const finer = wholeTerm({ loanTermFrequency, loanTermFrequencyType: type, numberOfRepayments })
  return finer.loanTermFrequencyType === type
    ? reason
    : `${reason}: name loanTermFrequency (${loanTermFrequency}) and loanTermFrequencyType ("${type}") as well, and it becomes ${finer.loanTermFrequency} ${finer.loanTermFrequencyType}`
}

/** Where the ledger gets no rule for the interest of part periods, it takes the product's. With daily interest, it refuses one. */
function partPeriods(loan: LedgerLoan) {
  const isByPeriod = loan.interestCalculationPeriodType.id === SAME_AS_REPAYMENT
  return isByPeriod
    ? { allowPartialPeriodInterestCalcualtion: loan.allowPartialPeriodInterestCalculation }
    : {}
}

function startDates({ expectedFirstRepaymentOnDate, interestChargedFromDate }: LedgerLoan) {
  return {
    repaymentsStartingFromDate:
      expectedFirstRepaymentOnDate && dayText(expectedFirstRepaymentOnDate),
    interestChargedFromDate: interestChargedFromDate && dayText(interestChargedFromDate),
  }
}

function chargeToSend({ id, chargeId, amount, amountOrPercentage, dueDate }: LedgerCharge) {
  return {
    id,
    chargeId,
    amount: amountOrPercentage ?? amount,
    dueDate: dueDate && dayText(dueDate),
  }
}

/**
 * The changes as the ledger answers them. After the write nobody can read what differed before it: what was requested
 * counts as changed.
 */
function asChanges(loan: LedgerLoan, asked: Changes): object {
  const { loanTermFrequencyType, submittedOnDate, ...plain } = asked
  const { loanTermFrequency, numberOfRepayments } = plain
  const frequency = loan.termPeriodFrequencyType.id
  const expected = loan.timeline.expectedDisbursementDate
  return {
    ...plain,
    ...((loanTermFrequency ?? numberOfRepayments) && { repaymentEvery: loan.repaymentEvery }),
    ...(loanTermFrequencyType && {
      loanTermFrequencyType: frequency,
      repaymentFrequencyType: frequency,
    }),
    ...(submittedOnDate && { submittedOnDate, ...dayFormat }),
    // A later submission moves the expected disbursement with it.
    ...(submittedOnDate &&
      isSameDay(expected, submittedOnDate) && { expectedDisbursementDate: submittedOnDate }),
    charges: (loan.charges ?? []).map(chargeInAnswer),
    locale: dayFormat.locale,
  }
}

/** The ledger answers the amount that it worked out, where a request has a percentage. */
function chargeInAnswer(charge: LedgerCharge) {
  const { id, chargeId, amount, dueDate } = charge
  return {
    id,
    chargeId,
    amount,
    chargeTimeType: charge.chargeTimeType.id,
    chargeCalculationType: charge.chargeCalculationType.id,
    dueDate,
  }
}

function alreadyHas(loan: LedgerLoan, changes: Changes): boolean {
  const { principal, submittedOnDate, loanTermFrequencyType } = changes
  const frequency = loanTermFrequencyType && FREQUENCIES[loanTermFrequencyType]
  const isSame = <T>(wanted: T | undefined, is: T) => wanted === undefined || wanted === is
  return (
    isSame(principal, loan.proposedPrincipal) &&
    isSame(changes.loanTermFrequency, loan.termFrequency) &&
    isSame<number>(frequency, loan.termPeriodFrequencyType.id) &&
    isSame(changes.numberOfRepayments, loan.numberOfRepayments) &&
    isSame(changes.interestRatePerPeriod, loan.interestRatePerPeriod) &&
    (submittedOnDate === undefined || isSameDay(loan.timeline.submittedOnDate, submittedOnDate))
  )
}
