import type { FastifyError, FastifyRequest } from 'fastify'
import { Unavailable } from '../database/unavailable.ts'
import { oncePer } from '../log/once-per.ts'

export const QUIET_MS = 60_000
const isNews = oncePer(QUIET_MS)

/** Logs a request that failed. Anybody may send one call too many, any number of times, so that those are one line a minute. */
export function logFailure({ log }: Pick<FastifyRequest, 'log'>, error: FastifyError): void {
  // An event that could not be stored has the reason as its cause.
  const reason = error.cause instanceof Unavailable ? error.cause : error
  if (reason instanceof Unavailable && reason.cause === undefined && !isNews(reason.message)) return
  log.error({ err: error }, 'request failed')
}
