export const PAYMENT_CRASH_POINTS = [
  'webhook.committed',
  'events.saved',
  'batch.claimed',
  'batch.registered',
  'batch.transformed',
  'batch.posting',
  'posting.recorded',
  'batch.unended',
] as const

/** Only the booking of a refund passes these. */
export const REVERSAL_CRASH_POINTS = ['batch.reversing', 'reversal.recorded'] as const

/** Only a payment with a fee of its payer passes this. */
export const FEE_CRASH_POINTS = ['repayment.fee-kept'] as const
