import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** An answer of the service is a fraction of this. */
const READ_BYTES = 64 * 1_024
const HEAD_END = '\r\n\r\n'

export type Connection = {
  /** @returns the answer's status */
  ask(body?: string): Promise<number>
  close(): void
}

/**
 * One kept-alive connection that sends requests to `url`, one at a time. It reads of an answer only its status and its length:
 * callers that do more take a large share of the two cores that they are to measure.
 */
export async function openConnection(
  method: 'GET' | 'POST',
  url: string,
  headers: Record<string, string>,
): Promise<Connection> {
  const { hostname, port, host, pathname, search } = new URL(url)
  const head = [
    `${method} ${pathname}${search} HTTP/1.1`,
    ...Object.entries({ host, 'content-type': 'application/json', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
    'content-length: ',
  ].join('\r\n')
  let answered: PromiseWithResolvers<number> | undefined
  let text = ''
  const socket: Socket = connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    onread: {
      buffer: Buffer.alloc(READ_BYTES),
      callback(bytes, buffer) {
        text += (buffer as Buffer).toString('latin1', 0, bytes)
        if (text.length < lengthOf(text)) return true
        const status = Number(text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length))
        text = ''
        answered?.resolve(status)
        return true
      },
    },
  })
  socket.on('error', error => answered?.reject(error))
  socket.on('close', () => answered?.reject(new Error('the service closed the connection')))
  await once(socket, 'connect')
  return {
    ask(body = '') {
      answered = Promise.withResolvers()
      socket.write(`${head}${Buffer.byteLength(body)}${HEAD_END}${body}`)
      return answered.promise
    },
    close() {
      socket.destroy()
    },
  }
}

function lengthOf(text: string): number {
  const end = text.indexOf(HEAD_END)
  if (end === -1) return Number.POSITIVE_INFINITY
  const length = /content-length: (\d+)/i.exec(text)?.[1]
  if (length === undefined) throw new Error(`an answer without content-length: ${text}`)
  return end + HEAD_END.length + Number(length)
}
