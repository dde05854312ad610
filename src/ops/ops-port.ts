import { once } from 'node:events'
import { createServer } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { clientError } from '../http/client-error.ts'
import { httpLimits } from '../http/limits.ts'
import { NotFound } from '../http/problem.ts'

/** These suffice for probes, scrapes and a few readers; callers of the other port cannot use them up. */
const MAX_CONNECTIONS = 64
const HEALTH = ['/healthz', '/readyz']
const FOR_OPERATORS = /^\/(metrics|openapi(-3\.0)?\.json|docs(\/.*)?)$/

/** An onRequest hook: the routes for operators are served on their port alone, and their port serves nothing else. */
export function serveApart(opsPort: number) {
  return async (request: FastifyRequest) => {
    const { url = '' } = request.routeOptions
    if (HEALTH.includes(url) || FOR_OPERATORS.test(url) === isOnPort(request, opsPort)) return
    throw new NotFound(
      `No route for ${request.method} ${request.url.split('?', 1)[0]} on this port`,
    )
  }
}

export function isOnPort({ socket }: FastifyRequest, port: number): boolean {
  return socket.localPort === port
}

/** Listens on a server of its own for the same routes. */
export async function listenForOps(
  app: FastifyInstance,
  { host, port }: { host: string; port: number },
): Promise<void> {
  const { http, requestTimeout } = httpLimits
  const server = createServer({ ...http, requestTimeout }, app.routing)
  server.maxConnections = MAX_CONNECTIONS
  server.on('clientError', clientError)
  app.addHook('onClose', async () => {
    server.close()
    server.closeAllConnections()
  })
  await app.ready()
  await once(server.listen({ host, port }), 'listening')
}
