// Twenty people who refresh a page each second, in a thread of their own: reading pages must not delay the calls that are
// measured beside it. A message is the page's path, or null to stop; the answer comes once no page is open any more.
import { parentPort, workerData } from 'node:worker_threads'
import { type Connection, openConnection } from './connection.ts'

const PEOPLE = 20
const EVERY_MS = 1_000

const { url, cookie } = workerData as { url: string; cookie: string }
let people: Connection[] = []
const open = new Set<Promise<void>>()
let timer: NodeJS.Timeout | undefined

parentPort?.on('message', async (path: string | null) => {
  if (path === null) await leave()
  else await look(path)
  parentPort?.postMessage('done')
})

async function look(path: string): Promise<void> {
  const one = () => openConnection('GET', url + path, { cookie })
  people = await Promise.all(Array.from({ length: PEOPLE }, one))
  let turn = 0
  // Each at another moment of the second.
  timer = setInterval(() => refresh(path, people[turn++ % PEOPLE] as Connection), EVERY_MS / PEOPLE)
}

function refresh(path: string, person: Connection): void {
  const page = person
    .ask()
    .then(status => {
      if (status !== 200) throw new Error(`${path}: ${status}`)
    })
    .finally(() => open.delete(page))
  open.add(page)
}

async function leave(): Promise<void> {
  clearInterval(timer)
  await Promise.all(open)
  for (const person of people) person.close()
}
