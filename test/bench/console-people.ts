// Twenty people who refresh a page each second, in a thread of their own: reading pages must not delay the calls that are
// measured beside it. A message says whether they look; ours says that they have come.
import { parentPort, workerData } from 'node:worker_threads'
import { type Connection, openConnection } from './connection.ts'

const PEOPLE = 20
const EVERY_MS = 1_000

const { url, cookie } = workerData as { url: string; cookie: string }
const come = () => openConnection('GET', url, { cookie })
const people = await Promise.all(Array.from({ length: PEOPLE }, come))
let timer: NodeJS.Timeout | undefined

parentPort?.on('message', (areLooking: boolean) => {
  clearInterval(timer)
  let turn = 0
  // Each at another moment of the second.
  const next = () => refresh(people[turn++ % PEOPLE] as Connection)
  if (areLooking) timer = setInterval(next, EVERY_MS / PEOPLE)
})
parentPort?.postMessage('here')

async function refresh(person: Connection): Promise<void> {
  const status = await person.ask()
  if (status !== 200) throw new Error(`${url}: ${status}`)
}
