import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * How a path fails. silent: both directions lose everything. deaf: what we send is lost. mute: what we should receive is
 * lost. late: nothing arrives before the path heals, and then all of it. slow: everything takes a second longer.
 * reset: connections are closed.
 */
export const TROUBLES = ['silent', 'deaf', 'mute', 'late', 'slow', 'reset'] as const
export type Trouble = (typeof TROUBLES)[number]
/** Which connections it affects. */
export const SCOPES = ['existing', 'new', 'both'] as const
export type Scope = (typeof SCOPES)[number]

const SLOW_MS = 1_000

/** The network between our processes and something that they call. */
export type Path = {
  port: number
  inflict(trouble: Trouble, scope: Scope): void
  /** New connections work again. A connection that lost bytes stays dead, and its other end never learns of it. */
  heal(): void
  /** Where new connections lead from now on. */
  lead(to: Target): void
  close(): void
}

type Target = { host: string; port: number }
type Connection = { client: Socket; upstream: Socket; trouble?: Trouble; held: (() => void)[] }

export async function openPath(first: Target): Promise<Path> {
  const connections = new Set<Connection>()
  let target = first
  let ofNew: Trouble | undefined

  const server = createServer(client => {
    if (ofNew === 'reset') return void client.resetAndDestroy()
    const upstream = connect(target)
    const connection: Connection = { client, upstream, held: [] }
    if (ofNew) connection.trouble = ofNew
    connections.add(connection)
    pump(connection, client, upstream, 'deaf')
    pump(connection, upstream, client, 'mute')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    inflict(trouble, scope) {
      if (scope !== 'existing') ofNew = trouble
      if (scope === 'new') return
      for (const connection of connections) {
        if (trouble === 'reset') end(connection)
        else if (!isDead(connection)) connection.trouble = trouble
      }
    },
    heal() {
      ofNew = undefined
      for (const connection of connections) {
        if (isDead(connection)) continue
        delete connection.trouble
        for (const deliver of connection.held.splice(0)) deliver()
      }
    },
    lead(to) {
      target = to
    },
    close() {
      for (const connection of connections) end(connection)
      server.close()
    },
  }

  function pump(connection: Connection, from: Socket, to: Socket, isLostWhen: Trouble) {
    let last: Promise<unknown> = Promise.resolve()
    const pass = (deliver: () => void) => {
      const { trouble, held } = connection
      if (trouble === 'silent' || trouble === isLostWhen) return
      if (trouble === 'late') return void held.push(deliver)
      const arrival = trouble === 'slow' ? later(SLOW_MS) : undefined
      last = last.then(() => arrival).then(deliver)
    }
    from.on('data', chunk => pass(() => to.write(chunk)))
    from.on('error', () => undefined)
    from.on('close', () => {
      pass(() => to.destroy())
      if (from.destroyed && to.destroyed) connections.delete(connection)
    })
  }

  function end({ client, upstream }: Connection) {
    client.resetAndDestroy()
    upstream.resetAndDestroy()
  }
}

/** Nothing sends again what was lost. */
const isDead = ({ trouble }: Connection) =>
  trouble === 'silent' || trouble === 'deaf' || trouble === 'mute'

const later = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
