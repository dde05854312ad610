export const BACKFILL_CRASH_POINTS = [
  'backfill.claimed',
  'backfill.kept',
  'backfill.part-done',
  'backfill.unended',
] as const
