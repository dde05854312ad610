import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'

/** The startup parameters that PgBouncer accepts; it refuses all others. */
const KNOWN_TO_PGBOUNCER = [
  'user',
  'database',
  'replication',
  'client_encoding',
  'datestyle',
  'timezone',
  'standard_conforming_strings',
  'application_name',
]

const SHUTDOWN = fatal('57P01', 'terminating connection due to administrator command')
const SERVER_LOST = fatal('08P01', 'server conn crashed?')
/** PgBouncer was seen to send them this far apart. */
const PACKETS_APART_MS = 20

type PostgresProxy = {
  /** The URL of the same database through the proxy. */
  url: string
  /** The parameters for which connections were refused, if it behaves like PgBouncer. */
  refused: string[]
  /** Drops every byte on the currently open connections, in both directions, without closing them. New ones work. */
  swallow(): void
  /** Closes the currently open connections. */
  cut(): void
  /** Ends the currently open connections as PgBouncer does when its server shuts down: passes on the server's error, then sends its own. */
  shutDown(apart: 'in one packet' | 'in two packets'): Promise<void>
  /** Closes the open connections and every new one, as a pooler that restarts does, until `comeBack`. */
  goAway(): void
  comeBack(): void
  /** Holds back every byte from now on, in both directions. */
  hold(): void
  /** Delivers what was held back, and everything after it. */
  deliver(): void
}

/** A network between the service and PostgreSQL that can fail silently. */
export async function startPostgresProxy(
  t: Test,
  databaseUrl: string,
  { isLikePgBouncer = false } = {},
): Promise<PostgresProxy> {
  const url = new URL(databaseUrl)
  const target = { host: url.hostname, port: Number(url.port) }
  const sockets = new Set<Socket>()
  const clients = new Set<Socket>()
  let isHeld = false
  let isAway = false

  const server = createServer(async client => {
    if (isAway) return void client.destroy()
    if (isLikePgBouncer && !(await isWelcome(client))) return
    const upstream = connect(target)
    clients.add(client)
    client.on('close', () => clients.delete(client))
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
    refused: [],
    swallow() {
      for (const socket of sockets) socket.unpipe().resume().removeAllListeners('deliver')
    },
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    async shutDown(apart) {
      const open = [...clients]
      for (const socket of sockets) socket.unpipe()
      const send = (bytes: Buffer) => {
        for (const client of open) client.write(bytes)
      }
      if (apart === 'in one packet') send(Buffer.concat([SHUTDOWN, SERVER_LOST]))
      else {
        send(SHUTDOWN)
        await sleep(PACKETS_APART_MS)
        send(SERVER_LOST)
      }
      for (const client of open) client.end()
    },
    goAway() {
      isAway = true
      proxy.cut()
    },
    comeBack() {
      isAway = false
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

  async function isWelcome(client: Socket): Promise<boolean> {
    const [start] = (await once(client, 'data')) as [Buffer]
    const unknown = parametersIn(start).find(name => !KNOWN_TO_PGBOUNCER.includes(name))
    client.pause()
    client.unshift(start)
    if (unknown === undefined) return true
    proxy.refused.push(unknown)
    client.end(fatal('08P01', `unsupported startup parameter: ${unknown}`))
    return false
  }
}

/** The names in a startup message: after its length and version come alternating names and values, each ended by NUL. */
function parametersIn(start: Buffer): string[] {
  const words = start.subarray(8).toString().split('\0')
  return words.filter((word, i) => i % 2 === 0 && word !== '')
}

function fatal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}
