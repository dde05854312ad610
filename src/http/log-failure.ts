import type { FastifyError, FastifyRequest } from 'fastify'
import { Unavailable } from '../database/unavailable.ts'
import { oncePer } from '../log/once-per.ts'

const QUIET_MS = 60_000
const isNews = oncePer(QUIET_MS)

/** Logs a request that failed. Anybody may send one call too many, any number of times, so that those are one line a minute. */
export function logFailure({ log }: FastifyRequest, error: FastifyError): void {
  if (error instanceof Unavailable && error.cause === undefined && !isNews(error.message)) return
  log.error({ err: error }, 'request failed')
}
