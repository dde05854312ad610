import { setTimeout as sleep } from 'node:timers/promises'
import { isTransient } from './transient.ts'

type Retries = {
  /** An error after this time is thrown. */
  withinMs: number
  everyMs: number
  /** Whether a later try may succeed after this error. By default, an error of the database decides. */
  mayPass?(error: unknown): boolean
  onRetry?(error: Error): void
  /** Once this signal is aborted, nothing is tried again. */
  stopping?: AbortSignal | undefined
}

export async function retry<T>(work: () => Promise<T>, retries: Retries): Promise<T> {
  const { withinMs, everyMs, mayPass = isTransient, onRetry, stopping } = retries
  const until = performance.now() + withinMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (stopping?.aborted || performance.now() > until || !mayPass(error)) throw error
      onRetry?.(error as Error)
      await sleep(everyMs)
      if (stopping?.aborted) throw error
    }
  }
}
