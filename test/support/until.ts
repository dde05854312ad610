import { setTimeout } from 'node:timers/promises'

/** Seldom enough that many who wait leave the machine to what they wait for. */
const ASK_EVERY_MS = 30
/** A process starts within a second, and within many of them on a machine that is busy with other tests. */
const PATIENCE_MS = 60_000

/**
 * Asks again and again until the answer is there.
 * @param what is awaited, for the error that says it did not come
 */
export async function until<T>(
  ask: () => Promise<T | undefined | false>,
  what = String(ask),
): Promise<T> {
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (Date.now() > end) throw new Error(`not within ${PATIENCE_MS} ms: ${what}`)
    await setTimeout(ASK_EVERY_MS)
  }
}
