import { fastifyHelmet } from '@fastify/helmet'
import { type FastifyInstance, fastify } from 'fastify'

const OWN_HEADERS = ['content-type', 'content-length', 'connection', 'date']

export const SAFE_HEADERS = {
  ...(await helmetsHeaders()),
  // Answers have names and amounts, which no cache may keep; files of the console and of /docs replace this header.
  'cache-control': 'no-store',
}

/** Call this before other hooks are added: their refusals have the headers, too. */
export function sendSafeHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_, reply, done) => {
    reply.headers(SAFE_HEADERS)
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
