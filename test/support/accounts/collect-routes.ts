import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'

/** Every route under /api and /console of the services that start from now on, except those that refuse a method. */
export function collectRoutes(): RouteOptions[] {
  const routes: RouteOptions[] = []
  subscribe('fastify.initialization', message => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', route => {
      if (/^\/(api|console)(\/|$)/.test(route.url) && !Array.isArray(route.method))
        routes.push(route)
    })
  })
  return routes
}
