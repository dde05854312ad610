import type { FastifyError, FastifyRequest } from 'fastify'
import { isLoginRefused, isTransient } from '../database/transient.ts'
import { Unavailable } from '../database/unavailable.ts'
import { oncePer } from '../log/once-per.ts'

export const QUIET_MS = 60_000
const isNews = oncePer(QUIET_MS)

/**
 * Logs a request that failed. Anybody may send one call too many, any number of times, so that those are one line a minute.
 * An outage fails each of thousands of calls: one a minute has the stack, the others a short line.
 */
export function logFailure({ log }: Pick<FastifyRequest, 'log'>, error: FastifyError): void {
  // An event that could not be stored has the reason as its cause.
  const reason = error.cause instanceof Unavailable ? error.cause : error
  if (reason instanceof Unavailable && reason.cause === undefined && !isNews(reason.message)) return
  const cause = error.cause instanceof Error ? error.cause : error
  const isOutage = isTransient(cause) || isLoginRefused(cause)
  if (isOutage && !isNews(cause.message)) log.error({ reason: cause.message }, 'request failed')
  else log.error({ err: error }, 'request failed')
}
