import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerA, type GatewayAnswer, refusal } from './gateway-a.ts'
import { answerB, refusalB } from './gateway-b.ts'
import { GatewayFaults } from './gateway-faults.ts'
import { type GatewayStore, gatewayStore } from './gateway-store.ts'
import { sendWebhook } from './gateway-webhooks.ts'

export type SandboxGateways = {
  urlA: string
  urlB: string
  controlUrl: string
  key: string
  secret: string
  secretB: string
  close(): Promise<void>
}

const CONTROL = '/sandbox-gateway'
/** The credentials that open everything; a payment of an account is seen with `<account>` as the key as well. */
const KEY = 'sandbox-key'
const SECRET = 'sandbox-secret'
/** One secret for both would be warned of at each start. */
const SECRET_B = 'sandbox-secret-b'

type State = { store: GatewayStore; faults: GatewayFaults; calls: { path: string; at: number }[] }

export async function startSandboxGateways({
  port,
  host = '127.0.0.1',
}: {
  port: number
  host?: string
}): Promise<SandboxGateways> {
  const state: State = { store: gatewayStore(), faults: new GatewayFaults(), calls: [] }
  const server = createServer((request, response) => {
    void dispatch(state, request, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 60_000
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, host, resolve)
  await promise
  const origin = `http://${host}:${(server.address() as AddressInfo).port}`
  return {
    urlA: `${origin}/v1`,
    urlB: `${origin}/pg`,
    controlUrl: `${origin}${CONTROL}`,
    key: KEY,
    secret: SECRET,
    secretB: SECRET_B,
    close: () =>
      new Promise(done => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

async function dispatch(state: State, request: IncomingMessage, response: ServerResponse) {
  const url = new URL(request.url ?? '', 'http://sandbox')
  const body = Buffer.concat(await request.toArray()).toString()
  if (url.pathname.startsWith(`${CONTROL}/`))
    return send(response, await control(state, request.method ?? '', url, body))
  const { delayMs, fault } = state.faults.meet(url.pathname)
  state.calls.push({ path: url.pathname + url.search, at: Date.now() })
  if (delayMs > 0) await new Promise(done => setTimeout(done, delayMs))
  const isA = url.pathname.startsWith('/v1/')
  if (fault?.kind === 'hang') return
  if (fault?.kind === 'reset') return void response.destroy()
  if (fault?.kind === 'garbage') return send(response, { status: 200, body: '{"items":"none"}' })
  if (fault !== undefined) {
    const status = fault.kind === 'tooMany' ? 429 : (fault.status ?? 500)
    const answer = isA ? refusal(status, 'Slow down') : refusalB(status, 'error', 'Slow down')
    const headers = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter }
    return send(response, { ...answer, headers })
  }
  send(response, isA ? gatewayA(state, request, url) : gatewayB(state, request, url, body))
}

function gatewayA({ store }: State, request: IncomingMessage, url: URL): GatewayAnswer {
  const [, encoded = ''] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? []
  const [key = '', secret] = Buffer.from(encoded, 'base64').toString().split(':')
  if (!isKnown(key, secret)) return refusal(401, 'Authentication failed')
  return answerA(store, url, key) ?? refusal(400, 'The requested URL was not found on the server.')
}

function gatewayB({ store }: State, { headers }: IncomingMessage, url: URL, body: string) {
  const key = String(headers['x-client-id'] ?? '')
  if (!isKnown(key, headers['x-client-secret']))
    return refusalB(401, 'authentication_failed', 'authentication Failed')
  const version = headers['x-api-version']
  const answer = answerB(store, { url, body, version: version && String(version) }, key)
  return answer ?? refusalB(404, 'not_found', 'There is no such path')
}

/** Any account's own key works with these secrets. */
const isKnown = (key: string, secret: unknown) =>
  (secret === SECRET || secret === SECRET_B) && (key === KEY || key.startsWith('account-'))

async function control(
  { store, faults, calls }: State,
  method: string,
  url: URL,
  body: string,
): Promise<GatewayAnswer> {
  const given = body === '' ? undefined : JSON.parse(body)
  switch (`${method} ${url.pathname.slice(CONTROL.length)}`) {
    case 'PUT /payments':
      for (const payment of [given].flat()) store.put(payment)
      break
    case 'PUT /refunds':
      putInto(store.refunds, {
        ...given,
        amount: BigInt(given.amount),
        createdAt: timeOf(given),
        settlement: given.settlement
          ? { ...given.settlement, at: new Date(given.settlement.at) }
          : null,
      })
      break
    case 'PUT /disputes':
      putInto(store.disputes, { ...given, amount: BigInt(given.amount), createdAt: timeOf(given) })
      break
    case 'PUT /faults':
      faults.set(given.faults ?? given, given.seed)
      break
    case 'POST /webhook':
      return { status: 200, body: JSON.stringify(await sendWebhook(store, given)) }
    case 'GET /calls':
      return { status: 200, body: JSON.stringify(calls) }
    default:
      return { status: 404, body: '{}' }
  }
  return { status: 200, body: '{}' }
}

function putInto<T extends { gateway: string; id: string }>(list: T[], item: T): void {
  const at = list.findIndex(({ gateway, id }) => gateway === item.gateway && id === item.id)
  list.splice(at < 0 ? list.length : at, at < 0 ? 0 : 1, item)
}

const timeOf = ({ created_at }: { created_at?: string }) =>
  created_at === undefined ? new Date() : new Date(created_at)

function send(response: ServerResponse, { status, body, headers = {} }: GatewayAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}
