/** Where a process can die during a bulk decision. */
export const BULK_CRASH_POINTS = ['bulk.decided', 'bulk.recorded'] as const
