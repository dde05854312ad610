import { retried } from '../../database/retried.ts'

/** A failover takes less time. After this, the caller gets the error. */
const OUTAGE_MS = 120_000
const TRY_AGAIN_MS = 500

export const throughOutage = <T>(work: () => Promise<T>): Promise<T> =>
  retried(work, { withinMs: OUTAGE_MS, everyMs: TRY_AGAIN_MS })
