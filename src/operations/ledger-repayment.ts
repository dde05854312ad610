import type { Answer } from '../ledger/answer.ts'
import { dayFormat, isSameDay } from '../ledger/dates.ts'
import { lookUp } from '../ledger/look-up.ts'
import { dayThere, difference } from './difference.ts'
import { loanPath } from './ledger-loan.ts'
import { isStanding, type LedgerTransaction, transactionPath } from './ledger-transaction.ts'
import { absent, compared, type Found, type Run } from './operation.ts'

/** A repayment as the ledger keeps it. The amount is a decimal text: it goes there as it is. */
export type LedgerRepayment = {
  loanExternalId: string
  externalId: string
  /** As `dd MMMM yyyy`. */
  day: string
  amount: string
  receiptNumber: string
  note?: string
}

/** The ledger keeps so much of a receipt number. */
const MAX_RECEIPT_CHARACTERS = 50

export async function postRepayment(
  { ledger, reference, key }: Pick<Run, 'ledger' | 'reference' | 'key'>,
  { loanExternalId, externalId, day, amount, receiptNumber, note }: LedgerRepayment,
): Promise<Answer> {
  const paymentTypeId = await reference.paymentTypeId()
  return ledger.write({
    method: 'POST',
    path: loanPath(loanExternalId, '/transactions?command=repayment'),
    body: {
      transactionDate: day,
      transactionAmount: amount,
      externalId,
      paymentTypeId,
      receiptNumber: receiptNumber.slice(0, MAX_RECEIPT_CHARACTERS),
      ...(note === undefined ? {} : { note }),
      ...dayFormat,
    },
    key,
    promisedId: 'resourceId',
  })
}

/** What the ledger holds under the repayment's external id. */
export async function heldRepayment(
  { ledger }: Pick<Run, 'ledger'>,
  wanted: LedgerRepayment,
): Promise<Found> {
  const path = transactionPath(wanted.loanExternalId, wanted.externalId)
  const transaction = await lookUp<LedgerTransaction>(ledger, path)
  if (transaction === undefined) return absent
  const { id } = transaction
  return compared(
    { resourceId: id, resourceExternalId: wanted.externalId },
    repaymentDifferences(transaction, wanted),
  )
}

export function repaymentDifferences(
  transaction: LedgerTransaction,
  { day, amount }: LedgerRepayment,
): string[] {
  return [
    ...(isStanding(transaction)
      ? []
      : ['it was undone there, and its external id is taken for ever']),
    ...(transaction.amount === Number(amount)
      ? []
      : [difference('amount', transaction.amount, amount)]),
    ...(isSameDay(transaction.date, day)
      ? []
      : [difference('date', dayThere(transaction.date), day)]),
  ]
}
