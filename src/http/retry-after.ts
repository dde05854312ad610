import type { FastifyReply } from 'fastify'

/** The wait after a 503 whose error asks for none of its own. */
const DEFAULT_SECONDS = 1
/** Thirty years: no caller waits that long, and a time so far away still fits a date. */
const MAX_SECONDS = 1_000_000_000

type Headers = Record<string, string | string[] | undefined>

/**
 * How long an answer asks to wait. A time counts from the answer's own `Date`: our clock may differ from its sender's by
 * more than the wait.
 */
export function retryAfterMs(headers: Headers, now = Date.now()): number {
  const [header, date] = ['retry-after', 'date'].map(name => [headers[name]].flat()[0])
  if (header === undefined) return 0
  // Each form of a time names its day or zone. Date.parse also takes "49.3", "-49.3" and "49,3" for a year.
  if (!/[a-z]/i.test(header)) return Math.min(Math.max(Number(header) || 0, 0), MAX_SECONDS) * 1_000
  const at = Date.parse(header)
  const from = Date.parse(date ?? '')
  return Number.isNaN(at) ? 0 : Math.max(0, at - (Number.isNaN(from) ? now : from))
}

/** Tells the caller when to try again: after what the error asks for, and otherwise soon if we are unavailable. */
export function sendRetryAfter(reply: FastifyReply, error: object, status: number): void {
  if ('retryAfterSeconds' in error) reply.header('retry-after', Number(error.retryAfterSeconds))
  else if (status === 503) reply.header('retry-after', DEFAULT_SECONDS)
}
