/** undici settles a request only once it has left the queue of its pool, even if `signal` ends it before. */
export function endingWith<T>(signal: AbortSignal, call: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const end = () => reject(signal.reason)
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  call.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  return promise
}

/**
 * Runs a call with a signal that aborts after `ms`, or with `until`. The timer ends with the call: that of
 * `AbortSignal.timeout()` runs on and then builds an error that nobody reads, a tenth of the cost of a call.
 */
export async function withTimeLimit<T>(
  ms: number,
  call: (signal: AbortSignal) => Promise<T>,
  until?: AbortSignal,
): Promise<T> {
  const late = new AbortController()
  const timer = setTimeout(
    () => late.abort(new DOMException('The time limit was reached', 'TimeoutError')),
    ms,
  )
  const signal = until === undefined ? late.signal : AbortSignal.any([late.signal, until])
  try {
    return await call(signal)
  } finally {
    clearTimeout(timer)
  }
}
