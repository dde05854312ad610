import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import type { App } from './app.ts'

type RoutesOf<Context> = (app: App, context: Context) => void | Promise<void>

/** Registers each feature in its own scope, so that what one accepts, such as files, no other accepts. */
export async function registerFeatures<Context>(
  app: FastifyInstance,
  features: Record<string, RoutesOf<Context>[]>,
  context: Context,
): Promise<void> {
  for (const [feature, list] of Object.entries(features))
    await app.register(
      named(feature, async scope => {
        for (const routes of list)
          await scope.register(named(routes.name, async app => routes(app, context)))
      }),
    )
}

/** Fastify searches all loaded modules for the name of a plugin that has none, which takes a quarter of a start. */
const named = (name: string, plugin: FastifyPluginAsync): FastifyPluginAsync =>
  Object.assign(plugin, { [Symbol.for('fastify.display-name')]: name })
