import { fastifyHelmet } from '@fastify/helmet'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { accessTokens } from './accounts/access-token.ts'
import { openAccounts } from './accounts/accounts.ts'
import { requireInternalToken } from './accounts/internal-token.ts'
import { accountRoutes } from './accounts/routes.ts'
import type { Context, Routes, Services } from './api-context.ts'
import { backfillRoutes } from './books/backfill/routes.ts'
import { checkRoutes } from './books/check-routes.ts'
import { reconciliationRoutes } from './books/reconciliation/routes.ts'
import { statementRoutes } from './books/statements/routes.ts'
import { callbackDocs } from './callbacks/callback-docs.ts'
import { callbackRoutes } from './callbacks/routes.ts'
import type { Config } from './config/config.ts'
import { consoleRoutes } from './console/console.ts'
import { httpLimits } from './http/limits.ts'
import { EVERY_METHOD, otherMethods } from './http/other-methods.ts'
import { notFound } from './http/problem.ts'
import { openServer } from './http/server.ts'
import { unreadablePath } from './http/unreadable-path.ts'
import { closeQuery } from './http/validator.ts'
import { operationCatalogue } from './operations/catalogue.ts'
import { operationControlRoutes } from './operations/control-routes.ts'
import { pauseRoutes } from './operations/pause-routes.ts'
import { operationRoutes } from './operations/routes.ts'
import { trackingPathRefusal } from './operations/tracking-id.ts'
import { docsRoutes } from './ops/docs.ts'
import { measureRequests } from './ops/measure-requests.ts'
import { opsRoutes } from './ops/routes.ts'
import { assignRoutes } from './payments/assign-routes.ts'
import { batchRoutes } from './payments/batch-routes.ts'
import { resolveRoutes } from './payments/resolve-routes.ts'
import { paymentRoutes } from './payments/routes.ts'
import { webhookRoutes } from './payments/webhook-routes.ts'
import { openPortfolio } from './portfolio/portfolio.ts'
import { migrationRoutes } from './portfolio/routes.ts'
import { tellFeatures } from './worker.ts'

/** Every route, by who may call it, in the order of the OpenAPI document. */
const ROUTES = {
  /** Role `worker` serves these too. */
  anybody: [opsRoutes],
  /** Under /api, with the internal token. */
  callers: [
    operationRoutes,
    operationControlRoutes,
    pauseRoutes,
    migrationRoutes,
    accountRoutes,
    batchRoutes,
    paymentRoutes,
    backfillRoutes,
    statementRoutes,
    reconciliationRoutes,
    checkRoutes,
    callbackRoutes,
    assignRoutes,
    resolveRoutes,
  ],
  /** Under /api, where a signature identifies the sender. */
  gateways: [webhookRoutes],
} satisfies Record<string, Routes[]>

export async function buildApi(
  services: Services,
  config: Config,
  log: FastifyBaseLogger,
  limits = httpLimits,
): Promise<FastifyInstance> {
  const app = openServer(serverOptions(config, log), limits)
  measureRequests(app, services.metrics.registry)
  services.traces.watch(app)
  // Over plain HTTP, /docs could not load its own assets if browsers upgraded those requests to HTTPS.
  const directives = { upgradeInsecureRequests: null }
  await app.register(fastifyHelmet, { contentSecurityPolicy: { directives } })
  if (config.DOCS_ENABLED) await app.register(docsRoutes(callbackDocs))
  const refuseOtherMethods = otherMethods(app)
  const catalogue = operationCatalogue(config.lenders)
  const portfolio = openPortfolio({ ...services, config, catalogue, limits }, log)
  app.addHook('onClose', portfolio.close)
  const context: Context = {
    ...services,
    config,
    accounts: openAccounts(services.db),
    portfolio,
    catalogue,
    limits,
    onFinal: tellFeatures(services.metrics),
  }
  await register(app, ROUTES.anybody, context)
  refuseOtherMethods(app)
  if (config.ROLE !== 'worker') {
    await app.register(
      async api => {
        await api.register(async trusted => {
          await callersRoutes(trusted, context)
          refuseOtherMethods(trusted)
        })
        await register(api, ROUTES.gateways, context)
        refuseOtherMethods(api, EVERY_METHOD)
      },
      { prefix: '/api' },
    )
    if (config.CONSOLE_ENABLED)
      await app.register(consoleRoutes(context, refuseOtherMethods), { prefix: '/console' })
  }
  return app
}

function serverOptions({ INTERNAL_TOKEN, TRUST_PROXY }: Config, log: FastifyBaseLogger) {
  return {
    loggerInstance: log,
    frameworkErrors: unreadablePath(requireInternalToken(INTERNAL_TOKEN), trackingPathRefusal),
    trustProxy: TRUST_PROXY.length > 0 ? TRUST_PROXY : false,
  }
}

async function callersRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.addHook('onRequest', requireInternalToken(context.config.INTERNAL_TOKEN))
  app.addHook('onRoute', closeQuery)
  // Set again in this scope, so that unknown paths under it require the token too.
  app.setNotFoundHandler(notFound)
  await app.register(accessTokens(context.db, context.config))
  await register(app, ROUTES.callers, context)
}

async function register(app: FastifyInstance, list: Routes[], context: Context): Promise<void> {
  for (const routes of list) await app.register(routes(context))
}
