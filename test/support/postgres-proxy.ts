import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

export type PostgresProxy = {
  /** The same database, reached through the proxy. */
  url: string
  /** Loses every byte of the connections that are open now, both ways, and closes none of them. New ones work. */
  swallow(): void
  /** Closes the connections that are open now. */
  cut(): void
  /** Holds every byte back from now on, both ways. */
  hold(): void
  /** Delivers what was held back, and everything after it. */
  deliver(): void
}

/** A network between the service and PostgreSQL that can fail without a word. */
export async function startPostgresProxy(t: Test, databaseUrl: string): Promise<PostgresProxy> {
  const url = new URL(databaseUrl)
  const target = { host: url.hostname, port: Number(url.port) }
  const sockets = new Set<Socket>()
  let isHeld = false

  const server = createServer(client => {
    const upstream = connect(target)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      if (!isHeld) from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.on('deliver', () => from.pipe(to))
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url.port = String((server.address() as AddressInfo).port)
  t.teardown(() => {
    proxy.cut()
    server.close()
  })

  const proxy: PostgresProxy = {
    url: url.href,
    swallow() {
      for (const socket of sockets) socket.unpipe().resume().removeAllListeners('deliver')
    },
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    hold() {
      isHeld = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    deliver() {
      isHeld = false
      for (const socket of sockets) socket.emit('deliver')
    },
  }
  return proxy
}
