import { setTimeout } from 'node:timers/promises'

const FIRST_PAUSE_MS = 40
/** Asks ever more rarely, so that many pollers leave the machine to the work they wait for. */
const SHARE_OF_WAIT = 0.1
const MAX_PAUSE_MS = 250
/** A process starts within a second, but takes many seconds on a slow machine busy with other tests. */
const PATIENCE_MS = 120_000

/**
 * Polls until there is an answer.
 * @param what is awaited, for the error if it does not come
 */
export async function until<T>(
  ask: () => Promise<T | undefined | false>,
  what = String(ask),
): Promise<T> {
  const start = Date.now()
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    const waitedMs = Date.now() - start
    if (waitedMs > PATIENCE_MS) throw new Error(`not within ${PATIENCE_MS} ms: ${what}`)
    await setTimeout(Math.min(Math.max(FIRST_PAUSE_MS, waitedMs * SHARE_OF_WAIT), MAX_PAUSE_MS))
  }
}
