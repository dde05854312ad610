import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Browse } from '../support/console/console.ts'
import { fire, newClients, quantile } from './fire.ts'

/**
 * People look in every second turn: whatever else slows the machine for a while slows both. A page is shared for up to ten
 * seconds, so shorter turns would have it made more often than it is.
 */
const TURN_MS = 20_000
/** Long enough that several hundred calls are slower than each p99. */
const LOAD = { connections: 32, perSecond: 500, seconds: 160, warmUpSeconds: 2 }

/** What every call costs that the same process answers. */
const CONTROL = '/healthz'

/** The API's p99 at a steady rate, while twenty people refresh each second and while none does, in turns. */
export async function compareLatency(url: string, { cookie }: Browse): Promise<void> {
  for (const path of [CONTROL, '/console', '/console/operations']) {
    const { alone, beside } = await latencies(url, { url: url + path, cookie })
    const ratio = (quantile(beside, 0.99) / quantile(alone, 0.99)).toFixed(2)
    console.log(
      `p99 of POST /ledger/operate at ${LOAD.perSecond}/s: alone ${quantile(alone, 0.99)} ms, beside 20 people at ${path} ${quantile(beside, 0.99)} ms (${ratio}); p50 ${quantile(alone, 0.5)} and ${quantile(beside, 0.5)} ms`,
    )
  }
}

async function latencies(url: string, page: { url: string; cookie: string }) {
  const people = new Worker(new URL('./console-people.ts', import.meta.url), { workerData: page })
  await once(people, 'message')
  const alone: number[] = []
  const beside: number[] = []
  let areLooking = false
  const turns = setInterval(() => {
    areLooking = !areLooking
    people.postMessage(areLooking)
  }, TURN_MS)
  await fire(url, newClients(`load-${performance.now()}`), {
    ...LOAD,
    onAccepted: ms => void (areLooking ? beside : alone).push(ms),
  })
  clearInterval(turns)
  await people.terminate()
  const sorted = (took: number[]) => took.sort((a, b) => a - b)
  return { alone: sorted(alone), beside: sorted(beside) }
}
