import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Browse } from '../support/console.ts'
import { fire, newClients } from './fire.ts'
import { median } from './median.ts'

/** Short and many, because others on the machine disturb some of them. */
const ROUNDS = 20
/** Enough that the slowest hundredth of a round are fifteen calls, not the three that a passing disturbance decides. */
const LOAD = { connections: 32, perSecond: 500, seconds: 3, warmUpSeconds: 0.5 }

/** What every call costs that the same process answers. */
const CONTROL = '/healthz'

/** The API's p99 at a steady rate, while twenty people refresh each second and while none does, in turns. */
export async function compareLatency(url: string, { cookie }: Browse): Promise<void> {
  const people = new Worker(new URL('./console-people.ts', import.meta.url), {
    workerData: { url, cookie },
  })
  for (const path of [CONTROL, '/console', '/console/operations']) {
    const alone: number[] = []
    const beside: number[] = []
    for (let n = 0; n < ROUNDS; n++) {
      // Whichever comes first finds the machine as the round before left it.
      const turns = [async () => alone.push(await p99()), async () => beside.push(await p99(path))]
      for (const turn of n % 2 === 0 ? turns : turns.reverse()) await turn()
    }
    const ratios = alone.map((ms, n) => (beside[n] ?? Number.NaN) / ms)
    console.log(
      `p99 of POST /ledger/operate at ${LOAD.perSecond}/s: alone ${median(alone)} ms, beside 20 people at ${path} ${median(beside)} ms, median of ${ROUNDS} ratios ${median(ratios).toFixed(2)}`,
    )
  }
  await people.terminate()

  async function p99(path?: string): Promise<number> {
    if (path !== undefined) await look(path)
    const fired = await fire(url, newClients(`load-${performance.now()}`), LOAD)
    if (path !== undefined) await look(null)
    return fired.p99
  }

  async function look(path: string | null): Promise<void> {
    people.postMessage(path)
    await once(people, 'message')
  }
}
