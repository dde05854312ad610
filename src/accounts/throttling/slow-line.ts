import { setTimeout as sleep } from 'node:timers/promises'
import { TooManyAttempts } from './too-many-attempts.ts'

/** However many addresses attack a name, each process tries at most 86,400 passwords a day for it. */
const APART_MS = 1_000
/** The last in line waits as long as a page of the console may take. */
const MAX_WAITING = 3

type Line = { waiting: number; last: Promise<unknown> }

/** Calls with the same key pass one at a time. */
export function slowLine(): (key: string) => Promise<void> {
  const lines = new Map<string, Line>()
  return async key => {
    const line = lines.get(key) ?? { waiting: 0, last: Promise.resolve() }
    if (line.waiting >= MAX_WAITING) throw new TooManyAttempts(MAX_WAITING)
    lines.set(key, line)
    line.waiting++
    line.last = line.last.then(() => sleep(APART_MS))
    await line.last
    line.waiting--
    if (line.waiting === 0) lines.delete(key)
  }
}
