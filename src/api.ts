import { fastifyHelmet } from '@fastify/helmet'
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify'
import type { PgBoss } from 'pg-boss'
import { accessTokens } from './accounts/access-token.ts'
import { requireInternalToken } from './accounts/internal-token.ts'
import { accountRoutes } from './accounts/routes.ts'
import type { Config } from './config.ts'
import type { Database } from './database/database.ts'
import { Unavailable } from './database/unavailable.ts'
import type { Watch } from './database/watch.ts'
import { clientError } from './http/client-error.ts'
import { limitConnections } from './http/connections.ts'
import { readJsonBodies } from './http/json-body.ts'
import { httpLimits } from './http/limits.ts'
import { errorHandler, notFound } from './http/problem.ts'
import { unreadablePath } from './http/unreadable-path.ts'
import { closeQuery, validator } from './http/validator.ts'
import { newId } from './ids.ts'
import { operationCatalogue } from './operations/catalogue.ts'
import { operationRoutes } from './operations/routes.ts'
import { trackingPathRefusal } from './operations/tracking-id.ts'
import { docsRoutes } from './ops/docs.ts'
import type { Health } from './ops/health.ts'
import type { Metrics } from './ops/metrics.ts'
import { opsRoutes } from './ops/routes.ts'
import { batchRoutes } from './payments/batch-routes.ts'
import { paymentRoutes } from './payments/routes.ts'
import { webhookRoutes } from './payments/webhook-routes.ts'
import { migrationRoutes } from './portfolio/routes.ts'

export type Services = {
  db: Database
  boss: PgBoss
  health: Health
  metrics: Metrics
  watch: Watch
}

/** The HTTP side: role `worker` serves only the part that tells of its health. */
export async function buildApi(
  services: Services,
  config: Config,
  log: FastifyBaseLogger,
  limits = httpLimits,
): Promise<FastifyInstance> {
  const { db, boss, health, metrics, watch } = services
  const { connections, keptAlive, waiting, longCalls, ...serverLimits } = limits
  const requireToken = requireInternalToken(config.INTERNAL_TOKEN)
  const app: FastifyInstance = fastify({
    loggerInstance: log,
    ...serverLimits,
    clientErrorHandler: clientError,
    frameworkErrors: unreadablePath(requireToken, trackingPathRefusal),
    trustProxy: config.TRUST_PROXY.length > 0 ? config.TRUST_PROXY : false,
    genReqId: newId,
    // One line per request would tell little and cost much; errors are logged, the rest is counted.
    logController: new LogController({ disableRequestLogging: true }),
    // Fastify's own answer to what comes during a stop is no problem+json: ours is, below.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
  })
  limitConnections(app, { connections, keptAlive })
  readJsonBodies(app)
  app.setValidatorCompiler(validator)
  app.setErrorHandler(errorHandler)
  app.setNotFoundHandler(notFound)
  let isStopping = false
  app.addHook('preClose', async () => {
    isStopping = true
  })
  app.addHook('onRequest', async () => {
    if (isStopping) throw new Unavailable('it is stopping')
  })
  app.addHook('onResponse', async (request, reply) => {
    const labels = {
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
    }
    metrics.httpSeconds.observe(labels, reply.elapsedTime / 1_000)
  })

  // Behind plain HTTP, an upgrade of /docs's own assets would lead nowhere.
  const directives = { upgradeInsecureRequests: null }
  await app.register(fastifyHelmet, { contentSecurityPolicy: { directives } })
  if (config.DOCS_ENABLED) await app.register(docsRoutes)
  await app.register(opsRoutes(health, metrics))
  if (config.ROLE === 'worker') return app

  const catalogue = operationCatalogue(config.lenders)
  await app.register(
    async api => {
      await api.register(async trusted => {
        trusted.addHook('onRequest', requireToken)
        trusted.addHook('onRoute', closeQuery)
        // A handler of its own, so that the token is asked for also where there is nothing.
        trusted.setNotFoundHandler(notFound)
        await trusted.register(accessTokens(db, config))
        await trusted.register(operationRoutes(db, boss, catalogue, watch, waiting))
        await trusted.register(migrationRoutes(db, config, catalogue, longCalls))
        await trusted.register(accountRoutes(db, config))
        await trusted.register(batchRoutes(db, boss))
        await trusted.register(paymentRoutes(db))
      })
      await api.register(webhookRoutes(db, boss, config, metrics, watch))
    },
    { prefix: '/api' },
  )
  return app
}
