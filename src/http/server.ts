import { Readable } from 'node:stream'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  fastify,
  LogController,
} from 'fastify'
import { Unavailable } from '../database/unavailable.ts'
import { newId } from '../ids.ts'
import { readJsonBodies } from './body/json-body.ts'
import { clientError } from './client-error.ts'
import { limitConnections } from './connections/connections.ts'
import { inNetworks, plainAddress } from './connections/networks.ts'
import { refuseAmbiguousHost } from './connections/refuse-ambiguous-host.ts'
import type { httpLimits } from './limits.ts'
import { errorHandler, notFound } from './problem.ts'
import { sendSafeHeaders } from './safe-headers.ts'
import { serializer } from './serializer.ts'
import { validator } from './validator.ts'

/** The paths that older services have too, whose callers may add a trailing slash. Every other path has no such callers. */
const PATHS =
  /^(\/api\/(?:ledger\/operate|ledger\/track\/[^/?]+|webhooks\/[^/?]+|migration\/upload|migration\/run|account\/login|account\/register))\/(?=\?|$)/

type Options = Pick<FastifyServerOptions, 'frameworkErrors'> & {
  log: FastifyBaseLogger
  trustProxy: string[]
  connectionsPerAddress: number
}

export function openServer(
  { log, trustProxy, connectionsPerAddress: perAddress, ...options }: Options,
  limits: typeof httpLimits,
): FastifyInstance {
  const { waiting, longCalls, largeBodies, connections, keptAlive, pipelined, unreadMs, ...own } =
    limits
  const isProxy = inNetworks(trustProxy)
  const app: FastifyInstance = fastify({
    ...options,
    loggerInstance: log,
    trustProxy: trustProxy.length > 0 && (address => isProxy(plainAddress(address))),
    ...own,
    rewriteUrl: withoutTrailingSlash,
    clientErrorHandler: clientError,
    genReqId: newId,
    // A line per request costs much and says little; errors are logged, everything else is counted.
    logController: new LogController({ disableRequestLogging: true }),
    // Fastify's own answer while closing is not problem+json; `refuseWhileStopping` sends one that is.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
  })
  sendSafeHeaders(app)
  // The only expectation with a meaning is 100-continue; Node would refuse any other one with an answer of its own.
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  )
  limitConnections(app, { connections, keptAlive, pipelined, unreadMs, perAddress, trustProxy })
  app.addHook('onRequest', refuseAmbiguousHost)
  readJsonBodies(app)
  app.setValidatorCompiler(validator)
  app.setSerializerCompiler(serializer)
  app.setErrorHandler(errorHandler)
  app.setNotFoundHandler(notFound)
  app.addHook('onSend', readNothingForHead)
  refuseWhileStopping(app)
  return app
}

/**
 * Fastify answers a HEAD at once and reads the GET's stream to its end all the same: a whole export, which nobody waits
 * for and no limit counts.
 */
async function readNothingForHead({ method }: FastifyRequest, _: FastifyReply, payload: unknown) {
  if (method !== 'HEAD' || !(payload instanceof Readable)) return payload
  payload.destroy()
  return Readable.from([])
}

function refuseWhileStopping(app: FastifyInstance): void {
  let isStopping = false
  app.addHook('preClose', async () => {
    isStopping = true
  })
  app.addHook('onRequest', async () => {
    if (isStopping) throw new Unavailable('this process is shutting down')
  })
  // The connection closes, or a proxy would send its next request on it, and be refused, instead of to another process.
  app.addHook('onSend', async (_, reply) => {
    if (isStopping) reply.header('connection', 'close')
  })
}

const withoutTrailingSlash = ({ url = '/' }: { url?: string | undefined }): string =>
  url.endsWith('/') || url.includes('/?') ? url.replace(PATHS, '$1') : url
