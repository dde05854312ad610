import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { todayIn } from './calendar.ts'
import { CONTROL, control } from './control.ts'
import { Faults } from './faults/faults.ts'
import { sandboxFlags } from './flags.ts'
import { containerAnswer } from './http/answer.ts'
import { API, handle, type Service } from './http/handle.ts'
import { Traffic } from './http/traffic.ts'
import { Turns } from './http/turns.ts'
import { openLedger } from './storage/ledger.ts'

type SandboxOptions = {
  port: number
  host?: string
  // An append-only file that keeps the books; without it they exist in memory only.
  booksFile?: string
  username?: string
  password?: string
  tenant?: string
  timeZone?: string
  // What `--flag` takes: `block-closed`, `charges=LENDER_02`.
  flags?: string[]
  // The seed that decides which calls a fault with a rate hits.
  seed?: number
}

type Sandbox = { url: string; controlUrl: string; close(): Promise<void> }

const ACTUATOR = '/fineract-provider/actuator/'

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { host = '127.0.0.1', username = 'mifos', password = 'password' } = options
  const flags = sandboxFlags(options.flags ?? [])
  const service: Service = {
    ledger: openLedger(
      options.booksFile,
      { username, password },
      flags,
      todayIn(flags.get('timezone')?.[0] ?? options.timeZone ?? 'Asia/Kolkata'),
    ),
    tenant: options.tenant ?? 'default',
    faults: new Faults(options.seed ?? 1),
    traffic: new Traffic(),
    turns: new Turns(),
  }
  const server = createServer((request, response) => void dispatch(service, request, response))
  // The default of five seconds might close a connection just as a test sends its next call on it.
  server.keepAliveTimeout = 60_000
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(options.port, host, resolve)
  await promise
  const { port } = server.address() as AddressInfo
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  return {
    url: `${origin}${API}`,
    controlUrl: `${origin}${CONTROL}`,
    close: async () => {
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      server.closeAllConnections()
      await closed.promise
      service.ledger.journal.close()
    },
  }
}

async function dispatch(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = request.url ?? ''
  try {
    if (url.startsWith(`${CONTROL}/`)) return await control(service, request, response)
    if (url.startsWith(ACTUATOR)) return actuator(url.slice(ACTUATOR.length), response)
    await handle(service, request, response)
  } catch (error) {
    // A caller may hang up while its request is being read; all else is a fault of the sandbox.
    if (!request.socket.destroyed) process.stderr.write(`${inspect(error)}\n`)
    response.destroy()
  }
}

const ACTUATORS: Record<string, object> = {
  health: { status: 'UP', groups: ['liveness', 'readiness'] },
  'health/liveness': { status: 'UP' },
  'health/readiness': { status: 'UP' },
  info: {},
}

/** Wants no credentials and no tenant. */
function actuator(name: string, response: ServerResponse): void {
  const body = ACTUATORS[name]
  const answer = body
    ? { status: 200, text: JSON.stringify(body) }
    : containerAnswer(404, ACTUATOR + name)
  response.writeHead(answer.status, { 'content-type': 'application/json' })
  response.end(answer.text)
}
