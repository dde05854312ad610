import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Browse } from '../support/console.ts'
import { fire, newClients } from './fire.ts'
import { median } from './median.ts'

/** Short and many, because others on the machine disturb some of them. */
const ROUNDS = 20
const LOAD = { connections: 16, perSecond: 100, seconds: 3, warmUpSeconds: 0.5 }

/** The API's p99 at a steady rate, while twenty people refresh each second and while none does, in turns. */
export async function compareLatency(url: string, { cookie }: Browse): Promise<void> {
  const people = new Worker(new URL('./console-people.ts', import.meta.url), {
    workerData: { url, cookie },
  })
  const look = async (path: string | null) => {
    people.postMessage(path)
    await once(people, 'message')
  }
  for (const path of ['/console', '/console/operations']) {
    const without: number[] = []
    const beside: number[] = []
    for (let n = 0; n < ROUNDS; n++) {
      without.push(
        (await fire(url, newClients(`alone${path.replaceAll('/', '-')}-${n}`), LOAD)).p99,
      )
      await look(path)
      beside.push(
        (await fire(url, newClients(`beside${path.replaceAll('/', '-')}-${n}`), LOAD)).p99,
      )
      await look(null)
    }
    const ratio = (of: (figures: number[]) => number) => (of(beside) / of(without)).toFixed(2)
    console.log(
      `p99 of POST /ledger/operate at ${LOAD.perSecond}/s: alone ${inWords(without)}, beside 20 people at ${path} ${inWords(beside)}, ratio of medians ${ratio(median)}, of the lowest ${ratio(lowest)}`,
    )
  }
  await people.terminate()
}

const lowest = (figures: number[]) => Math.min(...figures)
const inWords = (figures: number[]) => `median ${median(figures)} lowest ${lowest(figures)} ms`
