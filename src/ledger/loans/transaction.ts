import { Decimal } from 'decimal.js'
import type { Day } from '../../day.ts'

export type LedgerTransaction = {
  id: number
  externalId?: string
  date: Day
  amount: number
  /** When it was entered, which is not the day that it counts from. */
  submittedOnDate?: Day
  reversedOnDate?: Day
  /** The name that whoever undid the transaction gave the reversal. */
  reversalExternalId?: string
  /** The part of a repayment that its loan no longer owed. */
  overpaymentPortion?: number
  /** One flag for each kind of transaction that the ledger's version knows, and perhaps `repaymentType` for several of them. */
  type?: { value?: string; repayment?: boolean; disbursement?: boolean }
  transactionRelations?: { relationType?: string; amount?: number; toLoanTransaction?: number }[]
  paymentDetailData?: { receiptNumber?: string; paymentType?: { id: number } }
}

/** The kinds of transactions by which the loan may get money: newer versions of the ledger add only others. */
const TAKES_MONEY = [
  'repayment',
  'repaymentAtDisbursement',
  'recoveryRepayment',
  'chargePayment',
  'downPayment',
  'merchantIssuedRefund',
  'payoutRefund',
  'goodwillCredit',
  'chargeRefund',
]

export function takesNoMoney({ type = {} }: LedgerTransaction): boolean {
  const flags = Object.entries(type).flatMap(([flag, isSet]) => (isSet === true ? [flag] : []))
  return flags.length > 0 && !flags.some(flag => TAKES_MONEY.includes(flag))
}

/** An undone transaction is still found by its external id; only this date shows that it was undone. */
export const stands = (transaction: LedgerTransaction) => transaction.reversedOnDate === undefined

export const isOverpayment = ({ overpaymentPortion = 0 }: LedgerTransaction) =>
  overpaymentPortion > 0

const chargebacksOf = ({ transactionRelations = [] }: LedgerTransaction) =>
  transactionRelations.filter(({ relationType }) => relationType === 'CHARGEBACK')

/** A chargeback leaves its repayment as it is: only the relations show that this money is owed again. */
export function standingAmount(one: LedgerTransaction): Decimal {
  const back = chargebacksOf(one).map(({ amount = 0 }) => amount)
  return new Decimal(one.amount).minus(Decimal.sum(0, ...back))
}

export const chargebacksInWords = (one: LedgerTransaction): string[] =>
  chargebacksOf(one).map(({ amount, toLoanTransaction: id }) => {
    const what = `${amount} of it was charged back there`
    return id === undefined ? what : `${what} as transaction ${id}`
  })

/** The transactions by which it was charged back; none if that of one is not known. */
export function chargebackIds(one: LedgerTransaction): number[] {
  const ids = chargebacksOf(one).map(({ toLoanTransaction }) => toLoanTransaction)
  return ids.every(id => id !== undefined) ? ids : []
}
