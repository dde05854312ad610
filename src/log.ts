import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import { publicError } from './public-error.ts'

/** Lines of JSON on standard output. What callers send is never logged whole: names, numbers and tokens stand in it. */
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
