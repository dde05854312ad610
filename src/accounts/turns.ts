import { Unavailable } from '../database/unavailable.ts'

/** Runs a task once it is its turn. @throws Unavailable when too many wait already */
export type Turns = <T>(task: () => Promise<T>) => Promise<T>

/**
 * Bounds how much costly work is under way.
 * @param mostWaiting beyond this callers are told to come again
 */
export function turns(atOnce: number, mostWaiting: number): Turns {
  let underWay = 0
  const waiting: (() => void)[] = []

  return async task => {
    if (underWay >= atOnce) {
      if (waiting.length >= mostWaiting) throw new Unavailable('too many logins are waiting')
      await new Promise<void>(resolve => waiting.push(resolve))
    } else underWay++
    try {
      return await task()
    } finally {
      // The place goes straight to the next one, so that nobody slips in between.
      const next = waiting.shift()
      if (next) next()
      else underWay--
    }
  }
}
