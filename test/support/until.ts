import { setTimeout } from 'node:timers/promises'

/** Rarely enough that many pollers leave the machine to the work they wait for. */
const ASK_EVERY_MS = 30
/** A process starts within a second, but takes many seconds on a machine busy with other tests. */
const PATIENCE_MS = 60_000

/**
 * Polls until there is an answer.
 * @param what is awaited, for the error if it does not come
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
