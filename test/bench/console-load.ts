import { setTimeout } from 'node:timers/promises'
import type { Browse } from '../support/console.ts'
import { clientData } from '../support/loans.ts'
import { TOKEN } from '../support/service.ts'
import { quantile } from './fire.ts'
import { median } from './median.ts'

const PEOPLE = 20
const EVERY_MS = 1_000
/** Short and many, because others on the machine disturb some of them. */
const ROUNDS = 20
const PER_SECOND = 100
const SECONDS = 3

/** The API's p99 at a steady rate, while twenty people refresh each second and while none does, in turns. */
export async function compareLatency(url: string, browse: Browse): Promise<void> {
  for (const path of ['/console', '/console/operations']) {
    const without: number[] = []
    const beside: number[] = []
    for (let n = 0; n < ROUNDS; n++) {
      without.push(await p99Of(url, `alone-${n}`))
      const stop = people(browse, path)
      beside.push(await p99Of(url, `beside-${n}`))
      await stop()
    }
    const ratio = (of: (figures: number[]) => number) => (of(beside) / of(without)).toFixed(2)
    console.log(
      `p99 of POST /ledger/operate at ${PER_SECOND}/s: alone ${inWords(without)}, beside ${PEOPLE} at ${path} ${inWords(beside)}, ratio of medians ${ratio(median)}, of the lowest ${ratio(lowest)}`,
    )
  }
}

const lowest = (figures: number[]) => Math.min(...figures)
const inWords = (figures: number[]) => `median ${median(figures)} lowest ${lowest(figures)} ms`

async function p99Of(url: string, name: string): Promise<number> {
  const took: number[] = []
  const open: Promise<unknown>[] = []
  const from = performance.now()
  for (let n = 0; n < PER_SECOND * SECONDS; n++) {
    const dueIn = from + (n * 1_000) / PER_SECOND - performance.now()
    if (dueIn > 0) await setTimeout(dueIn)
    const since = performance.now()
    const body = { status: 'CLIENT_CREATE', data: clientData(`C-${name}-${from}-${n}`) }
    open.push(send(url, body).then(() => took.push(performance.now() - since)))
  }
  await Promise.all(open)
  return quantile(
    took.sort((a, b) => a - b),
    0.99,
  )
}

async function send(url: string, body: object): Promise<void> {
  const answer = await fetch(`${url}/api/ledger/operate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-internal-token': TOKEN },
    body: JSON.stringify(body),
  })
  if (answer.status !== 202) throw new Error(await answer.text())
}

/** Each at another moment of the second. @returns what sends them home */
function people(browse: Browse, path: string): () => Promise<unknown> {
  const open = new Set<Promise<unknown>>()
  const timer = setInterval(() => {
    const page = browse(path).finally(() => open.delete(page))
    open.add(page)
  }, EVERY_MS / PEOPLE)
  return () => {
    clearInterval(timer)
    return Promise.allSettled(open)
  }
}
