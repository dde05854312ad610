import type { Socket } from 'node:net'
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify'
import { Unavailable } from '../database/unavailable.ts'

/** Keeps idle connections from reaching the limit, beyond which new ones are closed at once. */
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

/** Beyond `max` concurrent requests, callers are asked to retry. */
export function limitConcurrent(max: number, what: string): onRequestAsyncHookHandler {
  let underWay = 0
  return async (_, reply) => {
    if (underWay >= max) throw new Unavailable(`too many ${what}`)
    underWay++
    reply.raw.once('close', () => underWay--)
  }
}
