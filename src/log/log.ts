import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import { oncePer } from './once-per.ts'
import { type PublicError, publicError } from './public-error.ts'

export type Log = {
  error(object: object, message: string): void
  warn(object: object, message: string): void
}

/** How much of the log is held in memory while it cannot be written (a full disk). The rest is dropped; the service continues. */
const MAX_UNWRITTEN_BYTES = 1024 * 1024

const STACK_QUIET_MS = 60_000

/** Requests are never logged in full: they contain names, numbers and tokens. */
export function logger(level: string): FastifyBaseLogger {
  const serializers = {
    req: ({ id, method, url }: { id: string; method: string; url: string }) => ({
      id,
      method,
      path: url.split('?', 1)[0],
    }),
    err: errorSerializer(),
  }
  return pino({ level, serializers }, openStdout())
}

/**
 * While PostgreSQL is away, a worker fails ten times a second in the same few places: an error, and each of its causes, has a
 * stack with the same calls once a minute.
 */
export function errorSerializer() {
  const isNews = oncePer(STACK_QUIET_MS)
  const quiet = ({ stack, cause, ...rest }: PublicError): PublicError => ({
    ...rest,
    ...(stack !== undefined && isNews(callsIn(stack)) ? { stack } : {}),
    ...(cause === undefined ? {} : { cause: quiet(cause) }),
  })
  return (error: Error) => quiet(publicError(error))
}

/** The message above them may differ each time. */
const callsIn = (stack: string) => stack.match(/^ {4}at .*$/gm)?.join('\n') ?? stack

function openStdout() {
  // Only with a minimum does a flush try to write.
  const stdout = pino.destination({ minLength: 1, maxLength: MAX_UNWRITTEN_BYTES })
  const flushSync = stdout.flushSync.bind(stdout)
  stdout.on('error', () => {
    // It would try until there is space, and nothing else would run meanwhile, not even a stop.
    stdout.flushSync = () => undefined
  })
  stdout.on('drain', () => {
    stdout.flushSync = flushSync
  })
  stdout.on('drop', () => stdout.flush())
  return stdout
}

// Listeners that log an error under a message.

export const asError = (log: Pick<Log, 'error'>, message: string) => (error: unknown) =>
  log.error({ err: error }, message)

export const asWarning = (log: Pick<Log, 'warn'>, message: string) => (error: unknown) =>
  log.warn({ err: error }, message)
