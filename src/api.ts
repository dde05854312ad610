import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { requireNeeds } from './accounts/access/access.ts'
import { forCallers } from './accounts/access/for-callers.ts'
import { openRefusedCalls } from './accounts/throttling/refused-calls.ts'
import { requireInternalToken } from './accounts/tokens/internal-token.ts'
import { apiContext, type Services } from './api-context.ts'
import { callbackDocs } from './callbacks/callback-docs.ts'
import type { Config } from './config/config.ts'
import { consoleRoutes } from './console/console.ts'
import { warnOfWideProxies } from './http/connections/warn-of-wide-proxies.ts'
import { httpLimits } from './http/limits.ts'
import { EVERY_METHOD, otherMethods } from './http/other-methods.ts'
import { registerFeatures } from './http/register-features.ts'
import { openServer } from './http/server.ts'
import { unreadablePath } from './http/unreadable-path.ts'
import { trackingPathRefusal } from './operations/tracking-id.ts'
import { docsRoutes } from './ops/docs/docs.ts'
import { measureRequests } from './ops/measure-requests.ts'
import { serveApart } from './ops/ops-port.ts'
import { ROUTES } from './routes.ts'

export async function buildApi(
  services: Services,
  config: Config,
  log: FastifyBaseLogger,
  limits = httpLimits,
): Promise<FastifyInstance> {
  const callersToken = requireInternalToken(config.INTERNAL_TOKEN)
  const refused = openRefusedCalls(services.metrics.registry, log)
  const frameworkErrors = unreadablePath(callersToken, trackingPathRefusal, refused.note)
  const { TRUST_PROXY: trustProxy, CONNECTIONS_PER_ADDRESS: connectionsPerAddress } = config
  const app = openServer({ log, trustProxy, connectionsPerAddress, frameworkErrors }, limits)
  warnOfWideProxies(log, trustProxy)
  app.addHook('onRoute', requireNeeds)
  const context = apiContext(services, config, log, limits)
  app.addHook('onClose', context.portfolio.close)
  app.addHook('onClose', () => context.forReads.destroy())
  app.addHook('onClose', async () => refused.close())
  measureRequests(app, services.metrics.registry)
  // In onResponse, a caller who hangs up while a refusal is delayed would be counted as answered.
  app.addHook('onSend', (request, { statusCode }) => refused.note(request, statusCode))
  services.traces.watch(app)
  if (config.OPS_PORT !== undefined) app.addHook('onRequest', serveApart(config.OPS_PORT))
  if (config.DOCS_ENABLED) await app.register(docsRoutes(callbackDocs, limits.longCalls))
  const refuseOtherMethods = otherMethods(app)

  await registerFeatures(app, ROUTES.anybody, context)
  refuseOtherMethods(app)
  if (config.ROLE === 'worker') return app

  await app.register(
    async api => {
      await api.register(async trusted => {
        await forCallers(trusted, services.db, config)
        await registerFeatures(trusted, ROUTES.callers, context)
        refuseOtherMethods(trusted)
      })
      await registerFeatures(api, ROUTES.gateways, context)
      refuseOtherMethods(api, EVERY_METHOD)
    },
    { prefix: '/api' },
  )
  if (config.CONSOLE_ENABLED)
    await app.register(consoleRoutes(context, refuseOtherMethods), { prefix: '/console' })
  return app
}
