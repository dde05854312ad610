import { inSteps } from './in-steps.ts'

/** @returns how much all steps purged */
export async function purgeInSteps<Place>(
  first: Place,
  step: (after: Place) => Promise<{ purged: number; last: Place | null }>,
): Promise<number> {
  let all = 0
  await inSteps(first, async after => {
    const { purged, last } = await step(after)
    all += purged
    return last
  })
  return all
}
