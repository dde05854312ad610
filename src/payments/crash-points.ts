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
