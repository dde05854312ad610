import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { errorHandler, notFound } from './problem.ts'
import { SAFE_HEADERS } from './safe-headers.ts'

/** Answers a path that is too long or cannot be decoded (`%zz`) like any other unknown path. */
export function unreadablePath(
  requireToken: (request: FastifyRequest) => Promise<void>,
  refusalOf: (path: string) => Error | undefined,
  noteAnswer: (request: FastifyRequest, statusCode: number) => Promise<void>,
) {
  return async (_: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    // Fastify runs no hooks for such a path.
    reply.headers(SAFE_HEADERS)
    try {
      if (request.url.startsWith('/api/')) await requireToken(request)
      const refusal = refusalOf(request.url)
      if (refusal !== undefined) throw refusal
      return await notFound(request, reply)
    } catch (error) {
      await noteAnswer(request, (error as FastifyError).statusCode ?? 500)
      return errorHandler(error as FastifyError, request, reply)
    }
  }
}
