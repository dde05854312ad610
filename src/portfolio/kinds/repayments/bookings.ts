import { Decimal } from 'decimal.js'
import { type Day, isoDay, namedDay } from '../../../day.ts'
import {
  type LedgerRepayment,
  receiptOf,
  receiptOfRepayment,
  spellingOf,
} from '../../../ledger/loans/repayment.ts'
import type { LedgerTransaction } from '../../../ledger/loans/transaction.ts'

/** The repayments of a loan that may be the same payment as a row: thousands of rows may have to look there. */
export class Bookings {
  readonly #bySpelling = new Map<string, LedgerTransaction[]>()
  readonly #byMoney = new Map<string, LedgerTransaction[]>()

  constructor(transactions: LedgerTransaction[] = []) {
    for (const one of transactions) this.#add(one)
  }

  /** @param id the row's line, in place of the id that the ledger has yet to give */
  addComing({ externalId, day, amount, receiptNumber }: LedgerRepayment, id = 0): void {
    this.#add({
      id,
      externalId,
      date: namedDay(day) as Day,
      amount: Number(amount),
      type: { repayment: true },
      paymentDetailData: { receiptNumber: receiptOf(receiptNumber) },
    })
  }

  ofReceipt({ receiptNumber }: Pick<LedgerRepayment, 'receiptNumber'>): LedgerTransaction[] {
    return this.#bySpelling.get(spellingOf(receiptOf(receiptNumber))) ?? []
  }

  ofMoney({ day, amount }: LedgerRepayment): LedgerTransaction[] {
    return this.#byMoney.get(moneyOf(namedDay(day), amount)) ?? []
  }

  #add(transaction: LedgerTransaction): void {
    const receiptNumber = receiptOfRepayment(transaction)
    if (receiptNumber === undefined) return
    // A run keeps these from row to row, so they lack most members of the ledger's transactions.
    const { id, externalId, date, amount, type } = transaction
    const kept = { id, ...(externalId && { externalId }), date, amount, ...(type && { type }) }
    const one = { ...kept, paymentDetailData: { receiptNumber } }
    append(this.#bySpelling, spellingOf(receiptNumber), one)
    append(this.#byMoney, moneyOf(date, amount), one)
  }
}

const moneyOf = (day: Day | undefined, amount: string | number | undefined) =>
  `${day && isoDay(day)} ${new Decimal(amount ?? Number.NaN).toFixed()}`

function append<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, [value])
  else values.push(value)
}
