import type { FastifyInstance, FastifyPluginAsync } from 'fastify'

/** Each feature in its own scope, so that what one accepts, such as files, no other accepts. */
export async function registerFeatures<Context>(
  app: FastifyInstance,
  features: Record<string, ((context: Context) => FastifyPluginAsync)[]>,
  context: Context,
): Promise<void> {
  for (const list of Object.values(features))
    await app.register(async scope => {
      for (const routes of list) await scope.register(routes(context))
    })
}
