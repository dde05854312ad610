import { type Day, isoDay } from '../../day.ts'
import { dayThere } from '../effect.ts'
import { type LedgerTransaction, stands } from './transaction.ts'

/**
 * What a person may have booked in the place of an undone repayment. The ledger's own adjustment books another one and loses
 * the receipt number, and nothing there links the two: each of these may as well be other money.
 */
export function mayReplace(undone: LedgerTransaction, transactions: LedgerTransaction[]) {
  return transactions.filter(
    one =>
      one.id > undone.id &&
      one.type?.repayment === true &&
      stands(one) &&
      !one.paymentDetailData?.receiptNumber &&
      !isBefore(one.submittedOnDate, undone.reversedOnDate),
  )
}

/** The undoing rebooks a loan's later repayments, so a later day excludes nothing. */
const isBefore = (one: Day | undefined, other: Day | undefined) =>
  one !== undefined && other !== undefined && isoDay(one) < isoDay(other)

export const undoneInWords = ({ id, reversedOnDate }: LedgerTransaction) =>
  `transaction ${id} was undone there on ${dayThere(reversedOnDate)}`

export function replacementsInWords(found: LedgerTransaction[]): string {
  const each = found.map(({ id, amount, date }) => `${id} (${amount} on ${dayThere(date)})`)
  return `transaction ${each.join(', ')}, entered that day or later without a receipt number, may replace it`
}
