import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Works step by step, and leaves half of the time to others.
 * @param step returns the place to go on from, null at the end
 */
export async function inSteps<Place>(
  first: Place,
  step: (after: Place) => Promise<Place | null>,
  stopping?: AbortSignal,
): Promise<void> {
  for (let after: Place | null = first; after !== null && !stopping?.aborted; ) {
    const startedAt = performance.now()
    after = await step(after)
    if (after !== null) await sleep(performance.now() - startedAt)
  }
}
