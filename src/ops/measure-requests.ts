import type { FastifyInstance } from 'fastify'
import type { Metrics } from './metrics.ts'

/** Measures each request by its route, so that no id becomes a label. */
export function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    const labels = {
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
    }
    metrics.httpSeconds.observe(labels, reply.elapsedTime / 1_000)
  })
}
