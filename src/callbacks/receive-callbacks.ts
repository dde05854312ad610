import { randomBytes } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { callbackKeys } from '../config/settings/callback-settings.ts'
import { onOneLine } from '../text/on-one-line.ts'
import { isSigned } from './sign.ts'

const MAX_BODY_BYTES = 1024 * 1024
const SECRET_BYTES = 32
/** The tolerance that the libraries of Standard Webhooks use. */
const TOLERANCE_SECONDS = 300

export async function receiveCallbacks(
  { port, secrets }: { port: number; secrets: string | undefined },
  print: (line: string) => void,
) {
  const secret = secrets ?? `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
  const keys = callbackKeys(secret)
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    if (body === undefined) return
    const problem = problemOf(keys, request.headers, body)
    print(`${problem === undefined ? 'signature valid' : problem}: ${onOneLine(body)}`)
    response.writeHead(problem === undefined ? 204 : 400).end()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    secret,
    close: () => new Promise<void>(resolve => server.close(() => resolve()).closeAllConnections()),
  }
}

/** @returns undefined if the caller breaks off, which must not end the receiver, or sends too much */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  let body = ''
  try {
    for await (const chunk of request.setEncoding('utf8')) {
      body += chunk
      if (body.length > MAX_BODY_BYTES) return undefined
    }
  } catch {
    return undefined
  }
  return body
}

function problemOf(keys: Buffer[], headers: IncomingHttpHeaders, body: string): string | undefined {
  const given = {
    'webhook-id': String(headers['webhook-id'] ?? ''),
    'webhook-timestamp': String(headers['webhook-timestamp'] ?? ''),
    'webhook-signature': String(headers['webhook-signature'] ?? ''),
  }
  if (!isSigned(keys, given, body)) return 'SIGNATURE NOT VALID'
  const ageSeconds = Math.abs(Date.now() / 1_000 - Number(given['webhook-timestamp']))
  return ageSeconds <= TOLERANCE_SECONDS ? undefined : 'TIMESTAMP TOO OLD OR IN THE FUTURE'
}
