/** Why a payment is in suspense, or what speaks against a posted one, and what to do. */
export const REASONS_IN_WORDS: Record<string, string> = {
  no_loan_named: 'No event names a loan. Find out whose payment it is, and assign it.',
  loan_unknown:
    'The ledger has no such loan. It is tried again for seven days; or assign it to the right loan.',
  loan_not_active:
    'The loan takes no repayments yet. It is tried again for seven days; or assign it.',
  currency_mismatch: 'The loan has another currency. Post the right amount by resolving it.',
  lender_mismatch:
    'The loan belongs to another lender than the event says. Assign it if the loan is right.',
  signature_not_verified:
    'The loan’s lender requires a verified signature. Assign it once you know that it is genuine.',
  sender_not_allowed:
    'Every event came from an address that the lender does not allow. Resolve it once you know that it is genuine.',
  events_disagree:
    'Its events name different amounts, currencies or loans. Decide by resolving it.',
  refund: 'Money went back to the payer. Book it at the ledger, and resolve it.',
  chargeback: 'The payer disputes it. Decide with the lender, and resolve it.',
  amount_invalid: 'This is no amount that the loan’s currency can have. Decide by resolving it.',
  unreadable: 'The event could not be read. See its bytes below.',
  ledger_refused:
    'The ledger refused the repayment. It is tried again for seven days; or assign or resolve it.',
  unknown_event: 'Nobody knows this type of event. Resolve it, or have the type added.',
  awaiting_review: 'The lender wants each payment reviewed. Assign or resolve it.',
  not_at_gateway: 'The gateway does not have this payment as the event says.',
  missing_at_ledger:
    'The ledger no longer has its repayment. Assign or resolve it to post it again.',
  reversed_at_ledger:
    'Its repayment was undone at the ledger. Assign or resolve it to post it again.',
  overpaid: 'It is posted, and it was more than the loan’s outstanding amount.',
  differs_at_ledger:
    'The ledger has another amount or day. Resolve the objection once it is right.',
}
