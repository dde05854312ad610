export const BULK_CRASH_POINTS = ['bulk.decided', 'bulk.recorded'] as const
