import { Decimal } from 'decimal.js'
import type { Config } from '../../config/config.ts'
import { dayText } from '../../day.ts'
import { type Attempt, operation } from '../../engine/operation.ts'
import type { Refusal } from '../../engine/refusal.ts'
import { type Answer, contradicted } from '../../ledger/answers/answer.ts'
import { absent, there } from '../../ledger/effect.ts'
import { type LedgerLoan, loanAnswer, roundingIn } from '../../ledger/loans/loan.ts'
import {
  findLoan,
  findTransaction,
  findTransactionById,
  readLoan,
} from '../../ledger/loans/loan-calls.ts'
import {
  findRepayment,
  isRespelled,
  isReversedByUs,
  postRepayment,
  repaymentDifferences,
  undoRepayment,
  withOverpaid,
} from '../../ledger/loans/repayment.ts'
import { isOverpayment, type LedgerTransaction, stands } from '../../ledger/loans/transaction.ts'
import { laggingClock, refusedFor } from './repayment-refusal.ts'
import { type Reversal, ReversalData, reversalIntake } from './reversal-intake.ts'

export const REFUSED = 'reversal_refused'
/** The ledger refuses so to undo what is undone, or what is no repayment. Newer versions list more kinds. */
const UNDONE = /^error\.msg\.loan\.transaction\.adjustment\.is\.only\.allowed\.to\.repayment\./
/** The ledger refused a write: what it refused to undo still stands. */
export const LEDGER_REFUSED = 'ledger_refused'

/**
 * Undoes a repayment, and then posts what is left of it. Each of the two writes is an attempt of its own; the ledger shows
 * which one is due.
 */
export function repaymentReversal({ LEDGER_TIMEZONE }: Config) {
  return operation({
    ...reversalIntake,
    summary: 'Takes back a repayment, or a part of it',
    carriesOwnId: true,
    schema: ReversalData,

    async run(attempt, reversal) {
      const loan = await readLoan(attempt.ledger, reversal.external_loan_id)
      if (loan.outcome === 'refused') return { ...loan, reason: REFUSED }
      const at = await progressOf(attempt, reversal)
      const result = resultOf(at, reversal)
      if (result !== undefined) return { ...loan, body: { ...loanAnswer(loan.body), ...result } }
      const { repayment, isUndone } = at
      if (repayment === undefined)
        return refused('404', `The loan has no repayment ${reversal.repayment.external_id}`)
      const mayUndoStillRun = attempt.mayStillRun && !isRemainderSent(attempt)
      if (isUndone && mayUndoStillRun) return { ...loan, isFirstOfTwo: true }
      if (isUndone)
        return (
          bookedMeanwhile(at, reversal) ??
          outcomeOf(await postRemainder(attempt, repayment, reversal, loan.body), repayment)
        )
      // While our undo may still run, it is sent again under its key: the answer shows whether we undid the repayment.
      if (!stands(repayment) && !mayUndoStillRun)
        return refused('409', `${reversal.repayment.external_id} was undone at the ledger by hand`)
      const reason = whyNot(at, reversal, loan.body)
      return reason ?? outcomeOf(await undo(attempt, repayment, reversal), repayment)
    },

    async find(attempt, reversal) {
      const at = await progressOf(attempt, reversal)
      const result = resultOf(at, reversal)
      if (result === undefined)
        return at.isUndone && !isRemainderSent(attempt) ? { state: 'half_done' } : absent
      const loan = await findLoan(attempt.ledger, reversal.external_loan_id)
      return loan === undefined ? absent : there({ ...loanAnswer(loan), ...result })
    },
  })

  function outcomeOf(answer: Answer, { date }: LedgerTransaction): Answer & { reason?: string } {
    if (answer.outcome !== 'refused') return answer
    return (
      laggingClock(answer, dayText(date), LEDGER_TIMEZONE) ?? { ...answer, reason: LEDGER_REFUSED }
    )
  }
}

type Progress = Awaited<ReturnType<typeof progressOf>>

/** `isUndone`: we undid the repayment, not somebody by hand. */
async function progressOf(attempt: Attempt, reversal: Reversal) {
  const { external_loan_id: loan, receipt_number: receiptNumber } = reversal
  const repayment = await findPosted(attempt, reversal)
  // What the ledger has answered outranks a read, which may come from a replica that lags.
  const isUndone =
    repayment !== undefined &&
    (attempt.seen !== null ||
      (!stands(repayment) && isReversedByUs(repayment, reversal.repayment.external_id)))
  if (reversal.remainder === null) return { repayment, remainder: undefined, isUndone }
  if (isUndone && attempt.seen === null) await attempt.remember({ undone: repayment.id })
  const { external_id: externalId } = reversal.remainder
  const remainder = await findRepayment(attempt, loan, { externalId, receiptNumber })
  // Without external ids, what is still to be undone has the same receipt number.
  const isOther = remainder?.id !== repayment?.id
  return { repayment, remainder: isOther ? remainder : undefined, isUndone }
}

async function findPosted(
  { ledger }: Attempt,
  { external_loan_id: loan, receipt_number, repayment }: Reversal,
): Promise<LedgerTransaction | undefined> {
  const { external_id, ledger_transaction_id: number } = repayment
  const found = await findTransaction(ledger, loan, external_id)
  if (found !== undefined || number == null) return found
  const numbered = await findTransactionById(ledger, loan, number)
  const isOurs = isRespelled(numbered?.paymentDetailData?.receiptNumber, receipt_number)
  return isOurs ? numbered : undefined
}

/**
 * Whether the remainder may have been sent: the payment type is recorded before the remainder is sent for the first
 * time, and never before the undo has ended.
 */
const isRemainderSent = ({ kept }: Attempt) => kept.paymentTypeId !== undefined

/** The result; undefined until both writes have arrived. */
function resultOf({ repayment, remainder, isUndone }: Progress, reversal: Reversal) {
  if (repayment === undefined || (stands(repayment) && !isUndone)) return undefined
  if (reversal.remainder === null) return isUndone ? resultWith(repayment) : undefined
  if (remainder === undefined || !stands(remainder)) return undefined
  const wanted = { amount: reversal.remainder.amount, days: [dayText(repayment.date)] }
  return repaymentDifferences(remainder, wanted).length === 0 ? resultWith(remainder) : undefined
}

const resultWith = (posted: LedgerTransaction) => ({
  resourceId: posted.id,
  resourceExternalId: posted.externalId,
  overpaid: isOverpayment(posted),
})

/** Checks, before the undo, everything that would make posting the remainder fail. */
function whyNot(at: Progress, reversal: Reversal, { currency }: LedgerLoan): Refusal | undefined {
  const { repayment, remainder } = reversal
  const { amount } = at.repayment ?? {}
  if (!new Decimal(amount ?? Number.NaN).eq(repayment.amount))
    return refused(
      '409',
      `${repayment.external_id} is ${amount} at the ledger, not ${repayment.amount}`,
    )
  if (remainder === null) return undefined
  if (at.remainder !== undefined)
    return refused('409', `The ledger already has a repayment ${remainder.external_id}`)
  const rounding = roundingIn(currency, remainder.amount)
  return rounding === undefined ? undefined : refused('403', rounding)
}

/**
 * Refuses if a person booked the remainder by hand after the undo: the ledger would take ours as well, because the external
 * ids differ.
 */
function bookedMeanwhile({ remainder }: Progress, reversal: Reversal): Refusal | undefined {
  if (remainder === undefined || remainder.externalId === reversal.remainder?.external_id) return
  const { receipt_number: receipt } = reversal
  return refused('409', `The ledger has another repayment with the receipt number ${receipt}`)
}

const refused = (httpStatusCode: string, message: string) =>
  refusedFor(REFUSED, httpStatusCode, message)

async function undo(
  attempt: Attempt,
  found: LedgerTransaction,
  { external_loan_id, repayment, remainder }: Reversal,
): Promise<Answer> {
  // Without a payment type, nothing could be posted after the undo.
  if (remainder !== null) await attempt.reference.paymentTypeId()
  const answer = await undoRepayment(attempt, external_loan_id, found, repayment.external_id)
  const isUndone = UNDONE.test(answer.code ?? '')
  if (isUndone && found.type?.repayment === true && stands(found)) return contradicted(answer)
  if (answer.outcome !== 'done' || remainder === null) return answer
  await attempt.remember({ undone: found.id })
  return { ...answer, isFirstOfTwo: true }
}

async function postRemainder(
  attempt: Attempt,
  { date }: LedgerTransaction,
  { external_loan_id, receipt_number, remainder }: Reversal,
  loan: LedgerLoan,
): Promise<Answer> {
  if (remainder === null) throw new Error('there is no remainder')
  const paymentTypeId = await attempt.keep('paymentTypeId', attempt.reference.paymentTypeId)
  const wanted = {
    loanExternalId: external_loan_id,
    externalId: remainder.external_id,
    day: dayText(date),
    amount: remainder.amount,
    receiptNumber: receipt_number,
  }
  const answer = await postRepayment(attempt, paymentTypeId, wanted)
  return withOverpaid(attempt.ledger, answer, loan, wanted)
}
