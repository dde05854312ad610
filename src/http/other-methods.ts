import { METHODS } from 'node:http'
import createError from '@fastify/error'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const MethodNotAllowed = createError('METHOD_NOT_ALLOWED', '%s', 405)

/** Node answers CONNECT itself, by closing the connection. */
const KNOWN = METHODS.filter(method => method !== 'CONNECT')

/**
 * Answers 405 with `Allow` to the methods that a path does not have, instead of treating its last segment as an id. Call the
 * result after the routes of a scope are registered, in that scope: its hooks, such as the one that requires the token,
 * come first.
 */
export function otherMethods(app: FastifyInstance): (scope: FastifyInstance) => void {
  for (const method of KNOWN) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  const allowed = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    allowed.set(url, (allowed.get(url) ?? new Set()).union(new Set([method].flat())))
  })

  return scope => {
    const routes = [...allowed].filter(([url]) => url.startsWith(scope.prefix))
    allowed.clear()
    for (const [url, methods] of routes) {
      const method = KNOWN.filter(one => !methods.has(one))
      const onRequest = refuse([...methods].sort().join(', '))
      scope.route({
        method,
        url: url.slice(scope.prefix.length),
        exposeHeadRoute: false,
        schema: { hide: true },
        validatorCompiler: () => () => true,
        onRequest,
        handler: onRequest,
      })
    }
    // The routes just added were noted too.
    allowed.clear()
  }
}

function refuse(allow: string) {
  return async ({ method }: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', allow)
    throw new MethodNotAllowed(`There is no ${method} here, only ${allow}`)
  }
}
