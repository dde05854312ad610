import { fastify, type RouteOptions } from 'fastify'
import { accountCalls } from '../../../src/accounts/account-calls.ts'
import { openFormats } from '../../../src/console/frame/formats.ts'
import { loginRoutes } from '../../../src/console/login/login-routes.ts'
import type { PageContext } from '../../../src/console/page-context.ts'
import { PAGES } from '../../../src/console/pages.ts'
import { portfolioCalls } from '../../../src/portfolio/portfolio-calls.ts'

/** Every GET and POST of the console, as its pages add them, but those that would end the session that asks them. */
export async function consoleRoutes(): Promise<RouteOptions[]> {
  const routes: RouteOptions[] = []
  const app = fastify()
  app.setValidatorCompiler(() => () => true)
  app.addHook('onRoute', route => {
    if (route.method === 'GET' || route.method === 'POST') routes.push(route)
  })
  const context = {
    config: { LEDGER_TIMEZONE: 'UTC' },
    formats: openFormats('UTC'),
    fileTypes: { portfolio: [], statements: [] },
    accounts: { calls: accountCalls(async () => '') },
    portfolio: { calls: portfolioCalls({} as never), limitLongCalls: async () => undefined },
  }
  for (const page of PAGES.filter(one => one !== loginRoutes))
    await app.register(async scope => page(scope, context as unknown as PageContext), {
      prefix: '/console',
    })
  await app.ready()
  return routes
}
