import { fastifyHelmet } from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'

/** Sends the headers by which browsers protect a page and its reader. */
export async function sendSafeHeaders(app: FastifyInstance): Promise<void> {
  // Over plain HTTP, /docs could not load its own assets if browsers upgraded those requests to HTTPS.
  const directives = { upgradeInsecureRequests: null }
  await app.register(fastifyHelmet, { contentSecurityPolicy: { directives } })
}
