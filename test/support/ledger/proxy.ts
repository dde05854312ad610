import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { serve } from '../http/serve.ts'

/** What the proxy does to a call instead of passing it on, or to its answer. */
export type Interference = {
  /** Applies to calls whose path or body names this loan or client. */
  of: string
  on: 'writes' | 'reads'
  /** The proxy's own answer; without one the connection is cut or left hanging. */
  status?: number
  body?: string | object
  /** The proxy's own answer claims to come from the idempotency store. */
  isFromStore?: boolean
  hangs?: boolean
  /** The ledger gets the call only then. */
  after?: Promise<void>
  /** The ledger gets the call, and only its answer is lost. */
  afterwards?: boolean
  /** The ledger gets the call twice, and its second answer is returned. */
  isTwice?: boolean
  /** The first one of the two without its key. */
  dropsKey?: boolean
  /** The ledger's answer is changed on its way back. */
  alters?(answer: Omit<Passed, 'body'> & { body: any }): void
  /** Spares this many calls first. */
  spares?: number
  /** Applies to only this many calls. */
  times?: number
}

type Proxy = {
  url: string
  /** The URL to call, up to and including `/api/v1`. */
  target: string
  interferences: Interference[]
  /** Calls that wait for their `after`. */
  held: number
  /** Calls that are not answered yet, and the most that there were at a time. */
  underWay: number
  mostUnderWay: number
  /** The targets of all calls, as they were sent. */
  targets: string[]
}

/** A proxy in front of the ledger, which can answer as proxies and containers do. */
export async function startProxy(t: Test): Promise<Proxy> {
  const proxy: Proxy = {
    url: '',
    target: '',
    interferences: [],
    held: 0,
    underWay: 0,
    mostUnderWay: 0,
    targets: [],
  }
  const url = await serve(t, async (request, response) => {
    proxy.mostUnderWay = Math.max(proxy.mostUnderWay, ++proxy.underWay)
    response.on('close', () => proxy.underWay--)
    proxy.targets.push(request.url ?? '')
    const sent = await text(request)
    const meant = proxy.interferences.find(
      one => isMeant(one, request, sent) && !isSpared(one) && !isOver(one),
    )
    if (meant?.isTwice) await passOn(proxy, request, sent, meant)
    if (meant?.after) proxy.held++
    await meant?.after
    if (meant?.after) proxy.held--
    const found = meant?.isTwice || meant?.after || meant?.alters ? undefined : meant
    // The ledger does not answer once the test has ended and closed it.
    const passed =
      found && !found.afterwards
        ? undefined
        : await passOn(proxy, request, sent).catch(() => undefined)
    if (passed && meant?.alters) {
      const altered = { ...passed, body: JSON.parse(passed.body) }
      meant.alters(altered)
      Object.assign(passed, { ...altered, body: JSON.stringify(altered.body) })
    }
    if (found?.hangs) return
    if (found && found.status === undefined) return void request.socket.destroy()
    if (!found && !passed) return void request.socket.destroy()
    const { status, body, headers } = found ? answerOf(found) : (passed as Passed)
    response.writeHead(status, headers)
    response.end(body)
  })
  proxy.url = `${url}/fineract-provider/api/v1`
  return proxy
}

type Passed = { status: number; body: string; headers: Record<string, string> }

function isMeant({ of, on }: Interference, request: IncomingMessage, sent: string): boolean {
  return (request.method === 'GET') === (on === 'reads') && `${request.url} ${sent}`.includes(of)
}

function isSpared(interference: Interference): boolean {
  const { spares = 0 } = interference
  interference.spares = spares - 1
  return spares > 0
}

function isOver(interference: Interference): boolean {
  if (interference.times === undefined) return false
  return --interference.times < 0
}

async function passOn(
  { target }: Proxy,
  request: IncomingMessage,
  sent: string,
  { dropsKey = false }: Pick<Interference, 'dropsKey'> = {},
): Promise<Passed> {
  const { host, connection, 'transfer-encoding': _, ...headers } = request.headers
  if (dropsKey) delete headers['idempotency-key']
  const answer = await fetch(new URL(request.url ?? '', target), {
    method: request.method as string,
    headers: headers as Record<string, string>,
    ...(sent === '' ? {} : { body: sent }),
  })
  const fromStore = answer.headers.get('x-served-from-cache')
  return {
    status: answer.status,
    body: await answer.text(),
    headers: {
      'content-type': 'application/json',
      ...(fromStore === null ? {} : { 'x-served-from-cache': fromStore }),
    },
  }
}

function answerOf({ status = 200, body = '', isFromStore }: Interference): Passed {
  const isPage = typeof body === 'string'
  return {
    status,
    body: isPage ? body : JSON.stringify(body),
    headers: {
      'content-type': isPage ? 'text/html' : 'application/json',
      ...(isFromStore ? { 'x-served-from-cache': 'true' } : {}),
    },
  }
}

/** The body with which Tomcat and Spring answer. */
export const containerBody = (status: number) => ({
  timestamp: '2026-01-05T10:00:00.000+00:00',
  status,
  error: 'Error',
  path: '/fineract-provider/api/v1/loans',
})

/** The body with which Fineract itself answers. */
export const ledgerBody = (status: number, code: string, message = 'No, because of a rule.') => ({
  developerMessage: message,
  httpStatusCode: String(status),
  defaultUserMessage: message,
  userMessageGlobalisationCode: 'validation.msg.domain.rule.violation',
  errors: [
    {
      developerMessage: message,
      defaultUserMessage: message,
      userMessageGlobalisationCode: code,
      parameterName: 'id',
    },
  ],
})
