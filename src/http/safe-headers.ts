import { fastifyHelmet } from '@fastify/helmet'
import { type FastifyInstance, fastify } from 'fastify'

const OWN_HEADERS = ['content-type', 'content-length', 'connection', 'date']

export async function sendSafeHeaders(app: FastifyInstance): Promise<void> {
  // Answers have names and amounts, which no cache may keep; files of the console and of /docs replace this header.
  const headers = { ...(await helmetsHeaders()), 'cache-control': 'no-store' }
  app.addHook('onRequest', (_, reply, done) => {
    reply.headers(headers)
    done()
  })
}

/** Helmet composes the same headers for every answer, which would take a sixth of the time of an accepted operation. */
async function helmetsHeaders() {
  const sample = fastify()
  // Over plain HTTP, /docs could not load its own assets if browsers upgraded those requests to HTTPS.
  const directives = { upgradeInsecureRequests: null }
  await sample.register(fastifyHelmet, { contentSecurityPolicy: { directives } })
  sample.get('/', async () => ({}))
  const { headers } = await sample.inject('/')
  await sample.close()
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.includes(name)))
}
