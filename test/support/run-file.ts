import { resolve } from 'node:path'
import t from 'tap'

/** With nothing left to do, a process exits within milliseconds. */
const EXITS_WITHIN_MS = 10_000

const files: string[] = []
const teardowns: (() => unknown)[] = []

// After tap's own, it would end the process's tests as soon as none is left, even while the next file still loads, and
// drop that file's tests.
t.teardown = teardown => void teardowns.push(teardown)

/** Ends all that the file began, so that files that share a process neither run beside each other nor change each other. */
export async function runFile(file: string): Promise<void> {
  files.push(file)
  t.comment(file)
  await import(resolve(file))
  await untilAllRan()
  for (const teardown of teardowns.splice(0).reverse()) await teardown()
  t.jobs = 1
}

/** Otherwise a process that something keeps alive ends at tap's time limit, unexplained. */
export function expectExit(withinMs = EXITS_WITHIN_MS): void {
  setTimeout(() => {
    const active = process.getActiveResourcesInfo().join(', ')
    console.error(`not exited within ${withinMs} ms after ${files.join(' ')}: ${active} are active`)
    process.exit(1)
  }, withinMs).unref()
}

async function untilAllRan(): Promise<void> {
  // Shuffled tests begin only after those that declared them.
  await new Promise(setImmediate)
  while (!t.idle) await new Promise(done => t.once('idle', done))
}
