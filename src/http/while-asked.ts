import type { FastifyReply } from 'fastify'

/**
 * A signal that is aborted when the caller goes away without its answer. (A request's own signal is aborted once its
 * body is read.)
 */
export function whileAsked({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  // Such a response emits no further `close`.
  if (raw.destroyed) gone.abort()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}
