import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
} from 'fastify'
import { Unavailable } from '../../database/unavailable.ts'
import { oncePer } from '../../log/once-per.ts'
import { addressKey } from './address-key.ts'
import { inNetworks, plainAddress } from './networks.ts'
import { openCounts } from './open-counts.ts'

/** An address may open and close its last connection any number of times. */
const WARN_EVERY_MS = 60_000
/** A connection opened just before a stop may still bring a request. */
const UNUSED_MAY_LAST_MS = 1_000

type Limits = {
  connections: number
  keptAlive: number
  pipelined: number
  unreadMs: number
  /** 0 means no limit. */
  perAddress: number
  /** Connections from our own proxies are not limited per address, because they carry many callers. */
  trustProxy: string[]
}

/** Keeps idle connections from reaching the limit, beyond which new ones are closed at once. */
export function limitConnections(app: FastifyInstance, limits: Limits): void {
  const { connections, keptAlive } = limits
  const open = new Set<Socket>()
  const holders = openHolders(app, limits)
  app.server.maxConnections = connections
  app.server.on('connection', (socket: Socket) => {
    if (!holders.mayOpen(socket)) return void socket.destroy()
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('onRequest', limitPipelined(limits))
  app.addHook('onSend', async (_, reply) => {
    if (open.size > keptAlive) reply.header('connection', 'close')
  })
  // Node takes unused connections for busy, and would wait for them until they send something.
  app.addHook('preClose', async () => {
    const end = () => {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    }
    setTimeout(end, UNUSED_MAY_LAST_MS).unref()
  })
}

function openHolders(app: FastifyInstance, { connections, perAddress, trustProxy }: Limits) {
  const opened = openCounts()
  const isProxy = inNetworks(trustProxy)
  const many = connections / 2
  const isNews = oncePer(WARN_EVERY_MS)

  return {
    mayOpen(socket: Socket): boolean {
      const address = plainAddress(socket.remoteAddress ?? '')
      if (address === '' || isProxy(address)) return true
      const holder = addressKey(address)
      const count = opened.of(holder) + 1
      if (perAddress > 0 && count > perAddress) return false
      opened.add(holder, 1)
      const message = 'one address holds more than half of the connections'
      if (count > many && isNews(message)) app.log.warn({ address }, message)
      socket.once('close', () => opened.add(holder, -1))
      return true
    },
  }
}

/** Ends a connection whose caller sends ever more requests, or does not read its answers. */
function limitPipelined({ pipelined, unreadMs }: Limits): onRequestAsyncHookHandler {
  const underWay = new WeakMap<Socket, number>()
  return async ({ raw: { socket } }, reply) => {
    // A request that we inject ourselves has no connection.
    if (!(socket instanceof Socket)) return
    const others = underWay.get(socket) ?? 0
    if (others >= pipelined) socket.destroy()
    // Node would still process requests it has already read, although nobody can receive the answers.
    if (socket.destroyed) return void reply.hijack()
    underWay.set(socket, others + 1)
    reply.raw.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1))
    endUnread(reply.raw, unreadMs)
  }
}

/** Ends an answer of which nothing is read for this long, but none that waits for more of ours. */
export function endUnread(response: ServerResponse, afterMs: number): void {
  response.setTimeout(afterMs, () => {
    if (response.writableLength > 0) response.destroy()
  })
}

/** Beyond `max` concurrent requests, or `ofOne` of one account or token, callers are asked to retry. */
export function limitConcurrent(max: number, what: string, ofOne = max) {
  const underWay = openCounts()
  let all = 0
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    // The caller left during an earlier hook: its response emits no further `close`, and nobody waits for an answer.
    if (reply.raw.destroyed) return void reply.hijack()
    const holder = holderOf(request)
    if (all >= max) throw new Unavailable(`too many ${what}`)
    if (underWay.of(holder) >= ofOne) throw new Unavailable(`too many of your own ${what}`)
    all++
    underWay.add(holder, 1)
    reply.raw.once('close', () => {
      all--
      underWay.add(holder, -1)
    })
  }
}

/** Whoever makes the call: a person may have many sessions, so the account, or else the token. */
const holderOf = ({ user, caller }: Partial<FastifyRequest>) => user?.sub ?? caller ?? ''
