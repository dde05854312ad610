import type { Objection } from '../../payments/payment-record.ts'
import type { Reason } from '../../payments/suspense-reasons.ts'

export const REASONS_IN_WORDS: Record<string, string> = {
  no_loan_named:
    'No event names a loan. Find out whose payment it is, and assign it, or register one of its references.',
  loan_unknown:
    'The ledger has no such loan. It is retried while a next try is shown; otherwise assign it to the right loan.',
  loan_not_active:
    'The loan does not take repayments yet. It is retried while a next try is shown; otherwise assign it.',
  currency_mismatch: 'The loan has a different currency. Post the right amount by resolving it.',
  lender_mismatch:
    'The loan belongs to a different lender than the event says. Assign it if the loan is right.',
  signature_not_verified:
    'The loan’s lender requires a verified signature. Assign it once you know that it is genuine.',
  sender_not_allowed:
    'Every event came from an address that the lender does not allow. Resolve it once you know that it is genuine.',
  events_disagree:
    'Its events name different amounts, currencies or loans; or it was decided because of a refund or dispute that has since failed. Decide by resolving it.',
  refund:
    'Money was or will be returned to the payer. If the payment is posted, reverse the refund, or correct the ledger and resolve the objection; if it is held, resolve it for what is left.',
  chargeback:
    'The payer disputes it. Decide with the lender, then reverse the chargeback, or resolve it.',
  reversal_refused:
    'The ledger refused to take it out of its payment. Correct the ledger by hand and resolve it, or reverse it again.',
  taken_back:
    'It was booked, and then its gateway took it back. Restore it, or correct by hand what was booked by hand, and reopen it.',
  amount_invalid: 'The loan’s currency cannot represent this amount. Decide by resolving it.',
  unreadable: 'The event could not be read. See its bytes below.',
  ledger_refused:
    'The ledger refused the repayment. It is retried while a next try is shown; otherwise assign or resolve it.',
  unknown_event: 'LoanOps does not know this event type. Resolve it, or have the type added.',
  awaiting_review:
    'The lender wants each payment reviewed, or only its customer or payer suggests a loan. Assign or resolve it.',
  not_at_gateway:
    'The gateway has no such payment, or describes it differently. Dismiss it if it is forged; otherwise resolve it.',
  missing_at_ledger:
    'The ledger no longer has its repayment. Assign or resolve it to post it again.',
  reversed_at_ledger:
    'Its repayment was undone in the ledger. Unless another one replaces it there, assign or resolve it to post it again.',
  overpaid: 'It is posted, but it exceeded the loan’s outstanding amount.',
  differs_at_ledger:
    'The ledger has a different amount or day, charged it back, or still has what went back. Resolve the objection once it is right.',
} satisfies Record<Reason | Objection, string>
