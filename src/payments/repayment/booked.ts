import type { Database } from '../../database/database.ts'
import type { Attempt } from '../../engine/operation.ts'
import { differsAtLedger, type Refusal } from '../../engine/refusal.ts'
import type { Answer } from '../../ledger/answers/answer.ts'
import { type LedgerLoan, loanAnswer } from '../../ledger/loans/loan.ts'
import { findLoanAnswer, findTransaction } from '../../ledger/loans/loan-calls.ts'
import {
  findRepayment,
  type LedgerRepayment,
  repaymentAmong,
  repaymentDifferences,
  withOverpaid,
} from '../../ledger/loans/repayment.ts'
import { isOverpayment, type LedgerTransaction, stands } from '../../ledger/loans/transaction.ts'
import { adjustedByHand } from './adjusted-by-hand.ts'
import { type DuePayment, isOfAnotherPayment, namesGateway } from './due-payment.ts'
import { refusedFor } from './repayment-refusal.ts'
import { findUnderOtherName } from './under-other-name.ts'

export type PayableLoan = LedgerLoan & { transactions?: LedgerTransaction[] }

const reversedAtLedger = refusedFor(
  'reversed_at_ledger',
  '409',
  'The repayment was undone at the ledger, which keeps its external id reserved',
)

/** A person or a file may have booked the payment. An equal repayment counts as ours; a different one forbids posting. */
export function bookedOn(
  loan: PayableLoan,
  wanted: Dated,
): { body: ReturnType<typeof repaymentAnswer> } | Refusal | undefined {
  const equal = equalOn(loan, wanted)
  if (equal !== undefined) return { body: repaymentAnswer(loan, equal) }
  const effect = amongOwn(standingOn(loan, wanted), wanted)
  return effect.state === 'differs' ? differsAtLedger(effect.how) : undefined
}

type Dated = DuePayment & { day: string }

export const equalOn = (loan: PayableLoan, wanted: Dated) =>
  standingOn(loan, wanted).find(
    one => isEqual(one, wanted) && amongOwn([one], wanted).state !== 'absent',
  )

const amongOwn = (transactions: LedgerTransaction[], wanted: Dated) =>
  repaymentAmong(transactions, wanted, namesGateway)

const standingOn = ({ transactions = [] }: PayableLoan, { externalId }: Dated) =>
  transactions.filter(one => stands(one) && !isOfAnotherPayment(one.externalId, externalId))

/** A file or a person may have booked it under its other name. An operator who assigned it knew of that refusal. */
export async function bookedOtherwise(
  db: Database,
  { mayStillRun }: Attempt,
  { transactions = [] }: PayableLoan,
  wanted: DuePayment & LedgerRepayment,
): Promise<Refusal | undefined> {
  const { decided, overruled } = wanted
  if (mayStillRun) return undefined
  const adjusted = adjustedByHand(transactions, wanted)
  if (adjusted !== undefined) return adjusted
  if (decided !== null || overruled.includes('ledger_refused')) return undefined
  const equal = transactions.filter(one => isEqual(one, wanted))
  const found = await findUnderOtherName(db, { equal, ofReceipt: () => transactions }, wanted)
  if (found === undefined) return undefined
  const { id, externalId = 'without an external id' } = found.booked
  const name =
    found.as === 'bank_reference'
      ? 'of this day and amount under the payment’s bank reference'
      : 'under the payment’s other id'
  const message = `The loan has a repayment ${name} ${found.name}: transaction ${id}, ${externalId}`
  return differsAtLedger(message)
}

/** The repayment that already has our external id, if it is equal: it is ours, from an earlier try or a migration. */
export async function duplicate(
  attempt: Attempt,
  payment: DuePayment,
  loanId: string,
  otherLoans: () => Promise<string[]>,
) {
  const booked = await findRepayment(attempt, loanId, payment)
  if (booked === undefined) {
    for (const other of await otherLoans()) {
      const elsewhere = await findRepayment(attempt, other, payment)
      if (elsewhere !== undefined && !stands(elsewhere)) return reversedAtLedger
    }
    return undefined
  }
  // An undone repayment keeps its external id, whatever its amount and day: the next repayment needs a new id.
  if (!stands(booked)) return reversedAtLedger
  if (!isEqual(booked, payment)) return undefined
  const loan = await findLoanAnswer(attempt.ledger, loanId)
  return loan && { ...loan, body: repaymentAnswer(loan.body, booked) }
}

/**
 * Whether the booked repayment is equal, on any event's day: an event that arrived after the repayment was sent may
 * name an earlier one.
 */
export function isEqual(booked: LedgerTransaction, { amount, decided, events }: DuePayment) {
  const days = (decided === null ? events : [decided]).flatMap(({ day }) => day ?? [])
  return repaymentDifferences(booked, { amount, days }).length === 0
}

export function repaymentAnswer(loan: LedgerLoan, booked: LedgerTransaction) {
  return {
    ...loanAnswer(loan),
    resourceId: booked.id,
    resourceExternalId: booked.externalId,
    overpaid: isOverpayment(booked),
  }
}

/** The ledger repeats its stored answer also once a person has undone the repayment. */
export async function whatStands(
  { ledger }: Attempt,
  answer: Answer,
  loan: PayableLoan,
  wanted: LedgerRepayment,
): Promise<Answer | Refusal> {
  const { loanExternalId, externalId } = wanted
  const booked = answer.isFromStore && (await findTransaction(ledger, loanExternalId, externalId))
  return booked && !stands(booked) ? reversedAtLedger : withOverpaid(ledger, answer, loan, wanted)
}
