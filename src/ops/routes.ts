import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Health } from './health.ts'
import type { Metrics } from './metrics.ts'

const tags = ['health']
const Readiness = Type.Object({}, { additionalProperties: true })

type Context = { health: Health; metrics: Metrics }

/** Served by every process, whatever its role, without a token. */
export function opsRoutes({ health, metrics }: Context): FastifyPluginAsyncTypebox {
  return async app => {
    app.get(
      '/healthz',
      {
        schema: {
          operationId: 'getHealth',
          tags,
          summary: 'Whether the process is alive',
          response: { 200: Type.Object({ status: Type.String() }) },
        },
      },
      async () => ({ status: 'ok' }),
    )

    app.get(
      '/readyz',
      {
        schema: {
          operationId: 'getReadiness',
          tags,
          summary: 'Whether the process can do its work',
          response: { 200: Readiness, 503: Readiness },
        },
      },
      async (_, reply) => {
        const readiness = await health()
        return reply.code(readiness.status === 'ready' ? 200 : 503).send(readiness)
      },
    )

    app.get(
      '/metrics',
      {
        schema: {
          operationId: 'getMetrics',
          tags,
          summary: 'Metrics for Prometheus',
          produces: ['text/plain'],
          response: { 200: Type.String() },
        },
      },
      async (_, reply) => reply.type(metrics.registry.contentType).send(await metrics.text()),
    )
  }
}
