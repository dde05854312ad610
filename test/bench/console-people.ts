// Twenty people who refresh a page each second, in a thread of their own: reading pages must not delay the calls that are
// measured beside it. A message is the page's path, or null to stop; the answer comes once no page is open any more.
import { parentPort, workerData } from 'node:worker_threads'
import { browser } from '../support/console.ts'

const PEOPLE = 20
const EVERY_MS = 1_000

const { url, cookie } = workerData as { url: string; cookie: string }
const browse = browser(url, cookie)
const open = new Set<Promise<unknown>>()
let timer: NodeJS.Timeout | undefined

parentPort?.on('message', async (path: string | null) => {
  clearInterval(timer)
  // Each at another moment of the second.
  if (path !== null) timer = setInterval(refresh, EVERY_MS / PEOPLE, path)
  if (path === null) await Promise.all(open)
  parentPort?.postMessage('done')
})

function refresh(path: string): void {
  const page = browse(path)
    .then(({ status }) => {
      if (status !== 200) throw new Error(`${path}: ${status}`)
    })
    .finally(() => open.delete(page))
  open.add(page)
}
