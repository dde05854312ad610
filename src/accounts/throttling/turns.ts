import { Unavailable } from '../../database/unavailable.ts'

export type Turns = <T>(task: () => Promise<T>) => Promise<T>

export function turns(maxConcurrent: number, maxWaiting: number): Turns {
  let underWay = 0
  const waiting: (() => void)[] = []

  return async task => {
    if (underWay >= maxConcurrent) {
      if (waiting.length >= maxWaiting) throw new Unavailable('too many logins are waiting')
      await new Promise<void>(resolve => waiting.push(resolve))
    } else underWay++
    try {
      return await task()
    } finally {
      // The place goes straight to the next in line, so that no newcomer takes it.
      const next = waiting.shift()
      if (next) next()
      else underWay--
    }
  }
}
