import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { newId } from '../ids.ts'
import { httpLimits } from './limits.ts'
import { SAFE_HEADERS } from './safe-headers.ts'

type Refusal = { status: number; code: string; detail: string }

const TOO_SLOW = {
  status: 408,
  code: 'INVALID_PAYLOAD',
  detail: 'The request did not arrive in time',
}
const TOO_LONG = {
  status: 431,
  code: 'PAYLOAD_TOO_LARGE',
  detail: `The request line and the headers are longer than ${httpLimits.http.maxHeaderSize / 1024} KiB`,
}
/** @param reason what the parser stumbled over, in one of its fixed texts */
const notHttp = (reason: string | undefined): Refusal => ({
  status: 400,
  code: 'INVALID_PAYLOAD',
  detail: `This is no valid HTTP request${reason ? `: ${reason}` : ''}`,
})
const REFUSALS: Record<string, Refusal> = {
  ERR_HTTP_REQUEST_TIMEOUT: TOO_SLOW,
  HPE_HEADER_OVERFLOW: TOO_LONG,
  HPE_INVALID_URL: notHttp(
    'its URL does not begin with /, or has a character that must be percent-encoded, as UTF-8',
  ),
  HPE_INVALID_CONSTANT: notHttp(
    'HTTP/1.1 does not follow its URL, in which a blank must be written %20',
  ),
}

const takingLong = new WeakSet<Socket>()

/** The interval of the checks, as a fraction of the allowed silence. */
const CHECK_INTERVAL = 0.1

/**
 * Lets a request take long: only the caller's silence ends it, and a caller whose bytes we have not read yet is not
 * silent.
 */
export function letTakeLong(request: IncomingMessage, silenceMs: number): void {
  const { socket } = request
  // A caller that has left already cannot be silent, and its socket emits no further `close`.
  if (socket.destroyed) return
  takingLong.add(socket)
  let bytesRead = socket.bytesRead
  let heardAt = performance.now()
  const watch = setInterval(() => {
    const isHeard = socket.bytesRead > bytesRead
    if (isHeard || request.complete || request.readableLength > 0) heardAt = performance.now()
    else if (performance.now() - heardAt >= silenceMs) request.destroy()
    bytesRead = socket.bytesRead
  }, silenceMs * CHECK_INTERVAL)
  // If the caller leaves after an early answer, the request emits neither event; a stop must not wait until the silence is
  // over.
  watch.unref()
  const stop = () => {
    takingLong.delete(socket)
    clearInterval(watch)
    socket.off('close', stop)
  }
  request.once('end', stop).once('close', stop)
  // A request that was answered before its end emits neither event when its caller goes.
  socket.once('close', stop)
}

/** Closes the connection, because what follows unparsable bytes cannot be parsed either. */
export function clientError(error: Error & { code?: string; reason?: string }, socket: Socket) {
  if (socket.destroyed || error.code === 'ECONNRESET') return
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && takingLong.has(socket)) return
  if (socket.writable) socket.write(response(REFUSALS[error.code ?? ''] ?? notHttp(error.reason)))
  socket.destroySoon()
}

function response({ status, code, detail }: Refusal): string {
  const title = STATUS_CODES[status]
  const request_id = newId()
  const body = JSON.stringify({ type: 'about:blank', title, status, detail, code, request_id })
  return [
    `HTTP/1.1 ${status} ${title}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    ...Object.entries(SAFE_HEADERS).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n')
}
