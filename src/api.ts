import { fastifyHelmet } from '@fastify/helmet'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { PgBoss } from 'pg-boss'
import { accessTokens } from './accounts/access-token.ts'
import { type Accounts, openAccounts } from './accounts/accounts.ts'
import { requireInternalToken } from './accounts/internal-token.ts'
import { accountRoutes } from './accounts/routes.ts'
import { backfillRoutes } from './books/backfill/routes.ts'
import { checkRoutes } from './books/check-routes.ts'
import { reconciliationRoutes } from './books/reconciliation/routes.ts'
import { statementRoutes } from './books/statements/routes.ts'
import { callbackDocs } from './callbacks/callback-docs.ts'
import { callbackRoutes } from './callbacks/routes.ts'
import type { Config } from './config/config.ts'
import { consoleRoutes } from './console/console.ts'
import type { Database } from './database/database.ts'
import type { Watch } from './database/watch.ts'
import type { OnFinal } from './engine/finish.ts'
import type { Catalogue } from './engine/operation.ts'
import { httpLimits } from './http/limits.ts'
import { otherMethods } from './http/other-methods.ts'
import { notFound } from './http/problem.ts'
import { openServer } from './http/server.ts'
import { unreadablePath } from './http/unreadable-path.ts'
import { closeQuery } from './http/validator.ts'
import type { Ledger } from './ledger/client.ts'
import type { Slots } from './ledger/slots.ts'
import { operationCatalogue } from './operations/catalogue.ts'
import { operationControlRoutes } from './operations/control-routes.ts'
import { pauseRoutes } from './operations/pause-routes.ts'
import { operationRoutes } from './operations/routes.ts'
import { trackingPathRefusal } from './operations/tracking-id.ts'
import { docsRoutes } from './ops/docs.ts'
import type { Health } from './ops/health.ts'
import { measureRequests } from './ops/measure-requests.ts'
import type { Metrics } from './ops/metrics.ts'
import { opsRoutes } from './ops/routes.ts'
import type { Traces } from './ops/traces.ts'
import { batchRoutes } from './payments/batch-routes.ts'
import { decisionRoutes } from './payments/decision-routes.ts'
import { paymentRoutes } from './payments/routes.ts'
import { webhookRoutes } from './payments/webhook-routes.ts'
import { openPortfolio, type Portfolio } from './portfolio/portfolio.ts'
import { migrationRoutes } from './portfolio/routes.ts'
import { tellFeatures } from './worker.ts'

export type Services = {
  db: Database
  boss: PgBoss
  health: Health
  metrics: Metrics
  watch: Watch
  traces: Traces
  ledger: Ledger
  slots: Slots
}
type Limits = typeof httpLimits
type Context = Services & {
  config: Config
  accounts: Accounts
  portfolio: Portfolio
  catalogue: Catalogue
  limits: Limits
  onFinal: OnFinal
}
type Routes = (context: Context) => FastifyPluginAsyncTypebox

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
    decisionRoutes,
  ],
  /** Under /api, where a signature identifies the sender. */
  gateways: [webhookRoutes],
} satisfies Record<string, Routes[]>

/** The HTTP side of a role. */
export async function buildApi(
  services: Services,
  config: Config,
  log: FastifyBaseLogger,
  limits = httpLimits,
): Promise<FastifyInstance> {
  const { INTERNAL_TOKEN, TRUST_PROXY } = config
  const app = openServer(
    {
      loggerInstance: log,
      frameworkErrors: unreadablePath(requireInternalToken(INTERNAL_TOKEN), trackingPathRefusal),
      trustProxy: TRUST_PROXY.length > 0 ? TRUST_PROXY : false,
    },
    limits,
  )
  measureRequests(app, services.metrics)
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
        refuseOtherMethods(api)
      },
      { prefix: '/api' },
    )
    if (config.CONSOLE_ENABLED)
      await app.register(consoleRoutes(context, refuseOtherMethods), { prefix: '/console' })
  }
  return app
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
