import { Unavailable } from '../../database/unavailable.ts'

/** Callers who go first have a line of their own, which the others cannot fill. */
export type Turns = <T>(task: () => Promise<T>, goesFirst?: boolean) => Promise<T>

/** @param maxWaiting in each of the two lines */
export function turns(maxConcurrent: number, maxWaiting: number): Turns {
  let underWay = 0
  const first: (() => void)[] = []
  const others: (() => void)[] = []

  return async (task, goesFirst = false) => {
    const waiting = goesFirst ? first : others
    if (underWay >= maxConcurrent) {
      if (waiting.length >= maxWaiting) throw new Unavailable('too many logins are waiting')
      await new Promise<void>(resolve => waiting.push(resolve))
    } else underWay++
    try {
      return await task()
    } finally {
      // The place goes straight to the next in line, so that no newcomer takes it.
      const next = first.shift() ?? others.shift()
      if (next) next()
      else underWay--
    }
  }
}
