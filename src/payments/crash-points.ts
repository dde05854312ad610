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

/** Passed only where a refund is booked. */
export const REVERSAL_CRASH_POINTS = ['batch.reversing', 'reversal.recorded'] as const

/** Passed only by a payment with a fee of its payer. */
export const FEE_CRASH_POINTS = ['repayment.fee-kept'] as const
