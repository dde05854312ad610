import type { FastifyError, FastifyRequest } from 'fastify'
import { Unavailable } from '../database/unavailable.ts'

const QUIET_MS = 60_000
const quietUntil = new Map<string, number>()

/** Logs a request that failed. Anybody may send one call too many, any number of times, so that those are one line a minute. */
export function logFailure({ log }: FastifyRequest, error: FastifyError): void {
  if (error instanceof Unavailable && error.cause === undefined) {
    const now = performance.now()
    if (now < (quietUntil.get(error.message) ?? 0)) return
    quietUntil.set(error.message, now + QUIET_MS)
  }
  log.error({ err: error }, 'request failed')
}
