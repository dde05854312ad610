import type { Socket } from 'node:net'
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify'
import { Unavailable } from '../database/unavailable.ts'

/** Closes what comes beyond the limit at once, and keeps idle connections from adding up to it. */
export function limitConnections(
  app: FastifyInstance,
  { connections, keptAlive }: { connections: number; keptAlive: number },
): void {
  let open = 0
  app.server.maxConnections = connections
  app.server.on('connection', (socket: Socket) => {
    open++
    socket.once('close', () => open--)
  })
  app.addHook('onSend', async (_, reply) => {
    if (open > keptAlive) reply.header('connection', 'close')
  })
}

/** For routes that may hold a connection for long: beyond `most` requests at a time, callers are told to come again. */
export function atMost(most: number, what: string): onRequestAsyncHookHandler {
  let underWay = 0
  return async (_, reply) => {
    if (underWay >= most) throw new Unavailable(`too many ${what}`)
    underWay++
    reply.raw.once('close', () => underWay--)
  }
}
