import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import { publicError } from './public-error.ts'

export type Log = {
  error(object: object, message: string): void
  warn(object: object, message: string): void
}

/** Requests are never logged in full: they contain names, numbers and tokens. */
export function logger(level: string): FastifyBaseLogger {
  return pino({
    level,
    serializers: {
      req: ({ id, method, url }: { id: string; method: string; url: string }) => ({
        id,
        method,
        path: url.split('?', 1)[0],
      }),
      err: publicError,
    },
  })
}
