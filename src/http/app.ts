import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

/** A scope of the server, whose routes are typed by their schemas. */
export type App = Parameters<FastifyPluginAsyncTypebox>[0]
