import { Decimal } from 'decimal.js'
import { dayText } from '../../day.ts'
import { inAscii } from '../../text/in-ascii.ts'
import { type Answer, contradicted } from '../answers/answer.ts'
import { outcomeUnderKey } from '../answers/outcome-under-key.ts'
import type { Ledger, Reader, Writer } from '../calls/client.ts'
import { dayFormat, isSameDay } from '../day-format.ts'
import { absent, compared, dayThere, differencesIn, type Effect } from '../effect.ts'
import type { LedgerLoan } from './loan.ts'
import {
  findLoan,
  findTransaction,
  lacksTransaction,
  repayLoan,
  undoTransaction,
} from './loan-calls.ts'
import { isOverpayment, type LedgerTransaction, stands } from './transaction.ts'

export type LedgerRepayment = {
  loanExternalId: string
  externalId: string
  /** Written as by `dayText`. */
  day: string
  amount: string
  receiptNumber: string
  note?: string
}

type Posted = Pick<LedgerRepayment, 'loanExternalId' | 'externalId' | 'amount'>

/** The ledger stores no more characters of a receipt number. */
const MAX_RECEIPT_CHARACTERS = 50
export const receiptOf = (paymentId: string) => paymentId.slice(0, MAX_RECEIPT_CHARACTERS)

/** Programs that print in capitals change a receipt number, and no other payment of a loan differs in that only. */
export const isReceiptOf = (receipt: string | undefined, paymentId: string) =>
  receipt?.toLowerCase() === receiptOf(paymentId).toLowerCase()

/** A receipt number without what programs change in it: its form in Unicode, dashes, capitals, blanks, and a plus or zeros before digits. */
export const spellingOf = (receipt: string) =>
  inAscii(receipt)
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/^\+?0*(?=(?:[1-9]\d*|0)$)/, '')

/** Two such may still be two payments, unless they have the same day and amount. */
export const isRespelled = (receipt: string | undefined, paymentId: string) =>
  receipt !== undefined && spellingOf(receipt) === spellingOf(receiptOf(paymentId))

/** Which of these codes the ledger uses for a transaction's external id that is taken depends on its database. */
const TAKEN = /value\.must\.be\.unique|duplicate\.externalId/

export async function postRepayment(
  writer: Writer,
  paymentTypeId: number,
  { loanExternalId, externalId, day, amount, receiptNumber, note }: LedgerRepayment,
): Promise<Answer> {
  const answer = await repayLoan(writer, loanExternalId, externalId, {
    transactionDate: day,
    transactionAmount: amount,
    externalId,
    paymentTypeId,
    receiptNumber: receiptOf(receiptNumber),
    ...(note === undefined ? {} : { note }),
    ...dayFormat,
  })
  const isTaken = answer.outcome === 'refused' && TAKEN.test(answer.code ?? '')
  return isTaken && (await lacksTransaction(writer.ledger, loanExternalId, externalId))
    ? contradicted(answer)
    : answer
}

/**
 * Says whether the loan owed less than was posted. Fineract takes the rest, too.
 * @param loan as it was before; with the payment, the ledger may add penalties of late days, or recalculate interest
 */
export async function withOverpaid(
  ledger: Reader,
  answer: Answer,
  { summary, isInterestRecalculationEnabled }: LedgerLoan,
  { loanExternalId, externalId, amount }: Posted,
): Promise<Answer> {
  if (answer.outcome !== 'done') return answer
  const seemsOverpaid = new Decimal(amount).gt(summary?.totalOutstanding ?? 0)
  // What was posted remains so if it cannot be read.
  const posted =
    seemsOverpaid || isInterestRecalculationEnabled
      ? await findTransaction(ledger, loanExternalId, externalId).catch(() => undefined)
      : undefined
  const overpaid = posted === undefined ? seemsOverpaid : isOverpayment(posted)
  return { ...answer, body: { ...(answer.body as object), overpaid } }
}

/** The external id of a reversal, named after the repayment, so that everybody sees whether we undid it. */
const reversalOf = (externalId: string) => `${externalId}-reversed`

/** @param externalId as we posted it, whether or not the ledger has it */
export function undoRepayment(
  writer: Writer,
  loanExternalId: string,
  { id, externalId: known, date }: LedgerTransaction,
  externalId: string,
): Promise<Answer> {
  const undone = { id, externalId: known === externalId ? externalId : undefined }
  return undoTransaction(writer, loanExternalId, undone, {
    transactionDate: dayText(date),
    transactionAmount: 0,
    reversalExternalId: reversalOf(externalId),
    ...dayFormat,
  })
}

export const isReversedByUs = ({ reversalExternalId }: LedgerTransaction, externalId: string) =>
  reversalExternalId === reversalOf(externalId)

type Run = { ledger: Ledger; mayStillRun: boolean }

export async function repaymentEffect(attempt: Run, wanted: LedgerRepayment): Promise<Effect> {
  const transaction = await findRepayment(attempt, wanted.loanExternalId, wanted)
  if (transaction === undefined) return absent
  return comparedRepayment(transaction, wanted)
}

/**
 * Versions of Fineract of early 2025 lost the external ids of some transactions, but not their receipt numbers. While our own
 * call may still run, one with our receipt number may be another's.
 */
export async function findRepayment(
  { ledger, mayStillRun }: Run,
  loan: string,
  { externalId, receiptNumber }: Pick<LedgerRepayment, 'externalId' | 'receiptNumber'>,
): Promise<LedgerTransaction | undefined> {
  const found = await findTransaction(ledger, loan, externalId)
  if (found !== undefined || mayStillRun) return found
  const { transactions = [] } = (await findLoan(ledger, loan, 'transactions')) ?? {}
  const lost = transactions.filter(one => !one.externalId)
  return lost.find(one => isReceiptOf(receiptOfRepayment(one), receiptNumber))
}

/**
 * The outcome of our own call, where an equal repayment may be another's.
 * @returns undefined if the booked one is ours, or ours cannot arrive any more
 */
export async function ownCallBeside(
  booked: { resourceExternalId?: string | undefined },
  attempt: Run & Writer,
  wanted: LedgerRepayment,
): Promise<Answer | undefined> {
  const isOurs = booked.resourceExternalId === wanted.externalId
  if (isOurs || !attempt.mayStillRun) return undefined
  const { loanExternalId, externalId } = wanted
  return outcomeUnderKey(repayLoan(attempt, loanExternalId, externalId, dayFormat))
}

/**
 * The repayment's effect: one with its receipt number that is not reversed is the same payment, whoever booked it.
 * @param isOfGateway whether an external id is that of a gateway's payment. A lender's own references may differ in
 * capitals only, and, if their day or amount differs, in blanks and in zeros before digits.
 */
export function repaymentAmong(
  transactions: LedgerTransaction[],
  wanted: Omit<LedgerRepayment, 'loanExternalId'>,
  isOfGateway: (externalId: string | undefined) => boolean,
): Effect {
  const receipt = receiptOf(wanted.receiptNumber)
  const same = transactions.filter(one => receiptOfRepayment(one) === receipt)
  const ours = transactions.filter(one => one.externalId === wanted.externalId)
  const found = [...same, ...ours].map(one => comparedRepayment(one, wanted))
  return (
    found.find(({ state }) => state === 'there') ??
    found[0] ??
    sameButForSpelling(transactions, wanted, isOfGateway) ??
    absent
  )
}

function sameButForSpelling(
  transactions: LedgerTransaction[],
  wanted: Omit<LedgerRepayment, 'loanExternalId'>,
  isOfGateway: (externalId: string | undefined) => boolean,
): Effect | undefined {
  const isSure = isOfGateway(wanted.externalId)
  const same = transactions.find(one => {
    const receipt = receiptOfRepayment(one)
    if (!isRespelled(receipt, wanted.receiptNumber)) return false
    const isOfPayment = isSure || isOfGateway(one.externalId)
    if (isOfPayment && isReceiptOf(receipt, wanted.receiptNumber)) return true
    return comparedRepayment(one, wanted).state === 'there'
  })
  if (same === undefined) return undefined
  return compared({}, [
    ...differencesIn(['receipt number', receiptOfRepayment(same), receiptOf(wanted.receiptNumber)]),
    ...repaymentDifferences(same, { amount: wanted.amount, days: [wanted.day] }),
  ])
}

export function receiptOfRepayment(transaction: LedgerTransaction): string | undefined {
  const isRepayment = transaction.type?.repayment === true && stands(transaction)
  return isRepayment ? transaction.paymentDetailData?.receiptNumber : undefined
}

function comparedRepayment(
  transaction: LedgerTransaction,
  { day, amount }: Pick<LedgerRepayment, 'day' | 'amount'>,
): Effect {
  const { id, externalId } = transaction
  const undone = stands(transaction)
    ? []
    : ['it was undone there, and its external id stays reserved']
  return compared({ resourceId: id, resourceExternalId: externalId }, [
    ...undone,
    ...repaymentDifferences(transaction, { amount, days: [day] }),
  ])
}

/** @param wanted may have been made on any of `days`, each as `dd MMMM yyyy` */
export function repaymentDifferences(
  { amount, date }: LedgerTransaction,
  wanted: { amount: string; days: string[] },
): string[] {
  const [firstDay] = wanted.days
  return differencesIn(
    // An answer that lacks the amount differs too.
    [
      'amount',
      new Decimal(amount ?? Number.NaN).eq(wanted.amount) ? wanted.amount : amount,
      wanted.amount,
    ],
    ['date', wanted.days.some(day => isSameDay(date, day)) ? firstDay : dayThere(date), firstDay],
  )
}
