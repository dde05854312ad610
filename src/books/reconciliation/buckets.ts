export const BUCKETS = [
  'posted',
  'unchecked',
  'waiting',
  'suspense',
  'handled',
  'dismissed',
  'returned',
  'missing',
  'not_at_gateway',
] as const
export type Bucket = (typeof BUCKETS)[number]
