import { Type } from '@sinclair/typebox'
import type { Config } from '../config/config.ts'
import type { App } from '../http/app.ts'
import { titled } from '../http/fields/schemas.ts'
import type { Health } from './health.ts'
import type { Metrics } from './metrics.ts'
import { isOnPort } from './ops-port.ts'

const Readiness = Type.Object({}, { additionalProperties: true, title: 'Readiness' })

type Context = { health: Health; metrics: Metrics; config: Pick<Config, 'OPS_PORT'> }

/** Every process, whatever its role, serves these routes, without a token. */
export function opsRoutes(app: App, { health, metrics, config }: Context): void {
  app.get(
    '/healthz',
    {
      schema: {
        operationId: 'getHealth',
        summary: 'Whether the process is alive',
        response: { 200: titled('Health', { status: Type.String() }) },
      },
    },
    async () => ({ status: 'ok' }),
  )

  app.get(
    '/readyz',
    {
      schema: {
        operationId: 'getReadiness',
        summary: 'Whether the process can do its work',
        response: { 200: Readiness, 503: Readiness },
      },
    },
    async (request, reply) => {
      const { status, ...details } = await health()
      const { OPS_PORT: opsPort } = config
      const isWhole = opsPort === undefined || isOnPort(request, opsPort)
      const code = status === 'ready' ? 200 : 503
      return reply.code(code).send({ status, ...(isWhole ? details : {}) })
    },
  )

  app.get(
    '/metrics',
    {
      schema: {
        operationId: 'getMetrics',
        summary: 'Metrics for Prometheus',
        produces: ['text/plain'],
        response: { 200: Type.String() },
      },
    },
    async (_, reply) => reply.type(metrics.registry.contentType).send(await metrics.text()),
  )
}
