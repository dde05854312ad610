import { Unavailable } from './unavailable.ts'

/**
 * Ends with the promise, or once this time is up. What is late goes on, and nobody hears how it ends.
 * @throws Unavailable with the message `late`
 */
export function within<T>(ms: number, promise: Promise<T>, late: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Unavailable(late)), ms)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
