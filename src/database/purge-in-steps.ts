import { inSteps } from './in-steps.ts'

export async function purgeInSteps<Place>(
  first: Place,
  step: (after: Place) => Promise<{ purged: number; last: Place | null }>,
  stopping?: AbortSignal,
): Promise<number> {
  let all = 0
  await inSteps(
    first,
    async after => {
      const { purged, last } = await step(after)
      all += purged
      return last
    },
    stopping,
  )
  return all
}

/** Few enough rows that nobody notices their locks. */
const ROWS_AT_ONCE = 500

/** Purges until a step finds fewer rows than it may purge. @returns how much all steps purged */
export function purgeAll(
  step: (most: number) => Promise<number>,
  stopping?: AbortSignal,
  most = ROWS_AT_ONCE,
): Promise<number> {
  const next = async () => {
    const purged = await step(most)
    return { purged, last: purged < most ? null : true }
  }
  return purgeInSteps(true, next, stopping)
}
