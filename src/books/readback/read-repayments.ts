import { Decimal } from 'decimal.js'
import { LedgerTrouble, NOT_FOUND } from '../../ledger/answers/answer.ts'
import type { Ledger } from '../../ledger/calls/client.ts'
import { findTransaction, findTransactionById, readLoan } from '../../ledger/loans/loan-calls.ts'
import {
  isReceiptOf,
  receiptOfRepayment,
  repaymentDifferences,
} from '../../ledger/loans/repayment.ts'
import { mayReplace, replacementsInWords, undoneInWords } from '../../ledger/loans/replacement.ts'
import {
  chargebackIds,
  chargebacksInWords,
  type LedgerTransaction,
  standingAmount,
  stands,
} from '../../ledger/loans/transaction.ts'
import { isOfAnotherPayment, namesGateway } from '../../payments/repayment/due-payment.ts'
import type { PostedPayment } from './posted-payments.ts'

export type ReadbackFinding = {
  payment: PostedPayment
  reason: 'reversed_at_ledger' | 'missing_at_ledger' | null
  difference: string | null
  amount: string | null
  detail: string | null
  /**
   * The ledger's chargebacks, if they are all that differs: a person may have booked a refund or dispute this way, and
   * resolved it so.
   */
  chargebacks?: number[]
}

const NOTHING = { reason: null, difference: null, amount: null, detail: null }

type Reader = Pick<Ledger, 'read'>

/**
 * A repayment counts as missing only if the ledger does not find it by its own ids: after an undone disbursement, a loan
 * lists nothing.
 */
export async function readRepayments(
  ledger: Reader,
  loan: string,
  payments: PostedPayment[],
): Promise<ReadbackFinding[]> {
  const transactions = await transactionsOf(ledger, loan)
  const findings: ReadbackFinding[] = []
  for (const payment of payments) {
    const finding =
      Number(payment.amount) === 0
        ? foundOfReturned(payment, transactions)
        : found(payment, await repaymentAtLedger(ledger, payment, transactions), transactions)
    findings.push({ payment, ...finding })
  }
  return findings
}

async function transactionsOf(ledger: Reader, loan: string): Promise<LedgerTransaction[]> {
  const answer = await readLoan(ledger, loan, 'transactions')
  if (answer.outcome === 'refused') {
    if (answer.status === NOT_FOUND) return []
    throw new LedgerTrouble(answer)
  }
  // Without a transaction, as after an undone disbursement, some versions of the ledger leave out the list.
  const { transactions = [] } = answer.body
  if (isList(transactions)) return transactions
  throw new LedgerTrouble({
    ...answer,
    outcome: 'not_arrived',
    message: 'the answer is not this loan with all its transactions',
  })
}

function isList(transactions: unknown): transactions is LedgerTransaction[] {
  return (
    Array.isArray(transactions) &&
    transactions.every(
      one => Number.isInteger(one?.id) && Number.isFinite(one.amount) && Array.isArray(one.date),
    )
  )
}

async function repaymentAtLedger(
  ledger: Reader,
  payment: PostedPayment,
  transactions: LedgerTransaction[],
): Promise<LedgerTransaction | undefined> {
  const { loan, externalId, ledgerTransactionId } = payment
  const listed = transactions.filter(one => isOurs(one, payment))
  if (listed.length > 0) return listed.find(stands) ?? listed[0]
  const byExternalId = await findTransaction(ledger, loan, externalId)
  if (byExternalId !== undefined) return byExternalId
  const byId = await findTransactionById(ledger, loan, ledgerTransactionId)
  return byId !== undefined && isOurs(byId, payment) ? byId : undefined
}

function isOurs(one: LedgerTransaction, { externalId, ledgerTransactionId }: PostedPayment) {
  if (one.externalId === externalId) return true
  // A reinstalled ledger starts its numbers from 1 again.
  const isRepayment = one.type?.repayment === true
  return (
    one.id === ledgerTransactionId && isRepayment && !isOfAnotherPayment(one.externalId, externalId)
  )
}

function found(
  payment: PostedPayment,
  repayment: LedgerTransaction | undefined,
  transactions: LedgerTransaction[],
): Omit<ReadbackFinding, 'payment'> {
  if (repayment === undefined) {
    const other = replacementOf(payment, transactions)
    const differences = other === undefined ? [] : repaymentDifferences(other, payment)
    const beside =
      other === undefined || differences.length === 0
        ? ''
        : `, but transaction ${other.id} with ${ownMark(other, payment)}: ${differences.join(', ')}`
    const detail = `The ledger has neither ${payment.externalId} nor transaction ${payment.ledgerTransactionId} on loan ${payment.loan}${beside}`
    return { ...NOTHING, reason: 'missing_at_ledger', detail }
  }
  if (stands(repayment)) {
    const difference = differencesAtLedger(repayment, payment).join(', ') || null
    const isBack = repaymentDifferences(repayment, payment).length === 0
    const amount = otherAmount(repayment, payment)
    const chargebacks = isBack && { chargebacks: chargebackIds(repayment) }
    return { ...NOTHING, difference, amount, ...chargebacks }
  }
  const undone = undoneInWords(repayment)
  const adjusted = replacementOf(payment, transactions)
  if (adjusted === undefined) {
    const others = mayReplace(repayment, transactions)
    const beside = others.length === 0 ? '' : `; ${replacementsInWords(others)}`
    const detail = `The ledger’s ${undone}${beside}`
    return { ...NOTHING, reason: 'reversed_at_ledger', detail }
  }
  const differences = [
    undone,
    `transaction ${adjusted.id} has ${ownMark(adjusted, payment)}`,
    ...differencesAtLedger(adjusted, payment),
  ]
  const amount = otherAmount(adjusted, payment)
  return { ...NOTHING, difference: differences.join(', '), amount }
}

/** The ledger was restored from a backup in which the payment still stood, or somebody booked it again. */
function foundOfReturned(
  payment: PostedPayment,
  transactions: LedgerTransaction[],
): Omit<ReadbackFinding, 'payment'> {
  const standing = transactions.filter(one => stands(one) && isOfPayment(one, payment))
  const amount = Decimal.sum(0, ...standing.map(one => one.amount))
  const ids = standing.map(({ id }) => id).join(', ')
  if (standing.length === 0) return NOTHING
  const difference = `all of it went back, and ${amount.toFixed()} stands there as transaction ${ids}`
  return { ...NOTHING, difference, amount: amount.toFixed() }
}

/** A payment may have been posted under several suffixes, or by hand under its receipt number alone. */
function isOfPayment(one: LedgerTransaction, { paymentId, externalId }: PostedPayment): boolean {
  if (one.type?.repayment !== true) return false
  return namesGateway(one.externalId)
    ? !isOfAnotherPayment(one.externalId, externalId)
    : isReceiptOf(receiptOfRepayment(one), paymentId)
}

function differencesAtLedger(one: LedgerTransaction, payment: PostedPayment): string[] {
  return [...repaymentDifferences(one, payment), ...chargebacksInWords(one)]
}

function otherAmount(one: LedgerTransaction, { amount }: PostedPayment): string | null {
  const there = standingAmount(one)
  return there.eq(amount) ? null : there.toFixed()
}

/** The repayment that replaced ours, with its receipt number or its name: after an adjustment the ledger has a new one. */
function replacementOf(payment: PostedPayment, transactions: LedgerTransaction[]) {
  const replacements = transactions.filter(one => stands(one) && isOfPayment(one, payment))
  return (
    replacements.find(one => repaymentDifferences(one, payment).length === 0) ?? replacements[0]
  )
}

const ownMark = (one: LedgerTransaction, { paymentId }: PostedPayment) =>
  isReceiptOf(receiptOfRepayment(one), paymentId) ? 'its receipt number' : 'its external id'
