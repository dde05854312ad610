import { differsAtLedger } from '../../engine/refusal.ts'
import { isReceiptOf, isReversedByUs } from '../../ledger/loans/repayment.ts'
import { mayReplace, replacementsInWords, undoneInWords } from '../../ledger/loans/replacement.ts'
import { type LedgerTransaction, stands } from '../../ledger/loans/transaction.ts'
import { type DuePayment, isOfAnotherPayment, namesGateway } from './due-payment.ts'

type OurRepayment = Pick<DuePayment, 'externalId' | 'receiptNumber' | 'decided' | 'overruled'>

/** A person who undid the payment's repayment may have booked it again in a way that does not show whose it is. */
export function adjustedByHand(transactions: LedgerTransaction[], ours: OurRepayment) {
  if (isKnown(ours)) return undefined
  for (const undone of transactions.filter(one => isUndoneByHand(one, ours))) {
    const others = mayReplace(undone, transactions)
    if (others.length === 0) continue
    const message = `The payment’s ${undoneInWords(undone)}; ${replacementsInWords(others)}`
    return differsAtLedger(message)
  }
  return undefined
}

/**
 * An operator who assigned the payment after this refusal knew of the booking; one who assigned it before the repayment was
 * undone did not.
 */
function isKnown({ decided, overruled }: OurRepayment): boolean {
  const undone = overruled.lastIndexOf('reversed_at_ledger')
  if (overruled.lastIndexOf('ledger_refused') > undone) return true
  // An assignment that posts the payment again keeps the earlier decision of what to post.
  return decided !== null && (undone === -1 || undone < overruled.length - 1)
}

/** A repayment with our own external id is left to the ledger, which refuses the duplicate. */
function isUndoneByHand(one: LedgerTransaction, { externalId, receiptNumber }: OurRepayment) {
  if (stands(one) || one.type?.repayment !== true || one.externalId === externalId) return false
  if (isReversedByUs(one, one.externalId ?? '')) return false
  return namesGateway(one.externalId)
    ? !isOfAnotherPayment(one.externalId, externalId)
    : isReceiptOf(one.paymentDetailData?.receiptNumber, receiptNumber)
}
