/** undici settles a request only once it has left the queue of its pool, even if `signal` ends it before. */
export function endingWith<T>(signal: AbortSignal, call: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const end = () => reject(signal.reason)
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  call.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  return promise
}
