import type { FastifyReply } from 'fastify'

/** After a 503 whose error asks for no wait of its own. */
const DEFAULT_SECONDS = 1
/** Thirty years: no caller waits that long, and a time so far away still fits a date. */
const MAX_SECONDS = 1_000_000_000

export function retryAfterMs(header: string | undefined, now = Date.now()): number {
  if (header === undefined) return 0
  if (/^\d+$/.test(header.trim())) return Math.min(Number(header), MAX_SECONDS) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? 0 : Math.max(0, at - now)
}

/** Tells the caller when to try again: after what the error asks for, and otherwise soon if we are unavailable. */
export function sendRetryAfter(reply: FastifyReply, error: object, status: number): void {
  if ('retryAfterSeconds' in error) reply.header('retry-after', Number(error.retryAfterSeconds))
  else if (status === 503) reply.header('retry-after', DEFAULT_SECONDS)
}
