import { Unavailable } from './unavailable.ts'

/**
 * A promise that settles with the given one or times out; a late result is ignored.
 * @throws Unavailable with the message `late`
 */
export function within<T>(ms: number, promise: Promise<T>, late: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Unavailable(late)), ms)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
