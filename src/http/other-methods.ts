import { METHODS } from 'node:http'
import createError from '@fastify/error'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import findMyWay from 'find-my-way'

/**
 * All methods, for routes in a scope whose `notFound` asks for a token that they do not need. Node itself answers
 * CONNECT.
 */
export const EVERY_METHOD = METHODS.filter(method => method !== 'CONNECT')

const MethodNotAllowed = createError('METHOD_NOT_ALLOWED', '%s', 405)
const NoRoute = createError('NOT_FOUND', 'No route for %s %s', 404)

declare module 'fastify' {
  interface FastifyInstance {
    methodsOf?: (path: string) => string | undefined
  }
}

/** Call the result after the routes of a scope are registered, in that scope: its hooks come first. */
export function otherMethods(app: FastifyInstance) {
  for (const method of EVERY_METHOD)
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  const paths = findMyWay()
  const added = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    added.set(url, (added.get(url) ?? new Set()).union(new Set([method].flat())))
  })
  app.decorate('methodsOf', path => paths.find('GET', path)?.store)

  return (scope: FastifyInstance, refused?: Iterable<string>): void => {
    const routes = [...added].filter(([url]) => url.startsWith(scope.prefix))
    // Only used methods need a route here: only they could take a path's last segment for an id. QUERY needs one too, because
    // Fastify refuses it with 400 if it has no content type, before it calls `notFound`.
    const used = new Set(refused ?? ['QUERY', ...routes.flatMap(([, methods]) => [...methods])])
    for (const [url, methods] of routes) {
      const allow = [...methods].sort().join(', ')
      paths.on('GET', url, () => undefined, allow)
      const method = [...used.difference(methods)]
      if (method.length === 0) continue
      scope.route({
        method,
        url: url.slice(scope.prefix.length),
        exposeHeadRoute: false,
        config: { needs: 'any' },
        schema: { hide: true },
        validatorCompiler: () => () => true,
        onRequest: async (request, reply) => refuse(request, reply, allow),
        handler: () => undefined,
      })
    }
    // The routes just added were noted too.
    added.clear()
  }
}

export function refuseOtherMethod(request: FastifyRequest, reply: FastifyReply): void {
  const allow = request.server.methodsOf?.(request.url.split('?', 1)[0] as string)
  if (allow !== undefined) refuse(request, reply, allow)
}

function refuse(
  { method, url, params }: FastifyRequest,
  reply: FastifyReply,
  allow: string,
): never {
  // `/api/payments/batch/`, with a slash too many, looks like a payment with an empty id.
  if (Object.values(params as object).includes('')) throw new NoRoute(method, url.split('?', 1)[0])
  reply.header('allow', allow)
  throw new MethodNotAllowed(`${method} is not allowed here; use ${allow}`)
}
