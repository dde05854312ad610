import { type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'

/** Sends raw bytes. @returns everything received until the server closes, or until we do after a complete answer */
export async function rawHttp(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  return new Promise((resolve, reject) => {
    socket.on('connect', () => socket.write(bytes))
    socket.on('data', chunk => {
      answer += chunk
      if (isWhole(answer)) socket.destroy()
    })
    socket.on('error', error => (answer === '' ? reject(error) : resolve(answer)))
    socket.on('close', () => resolve(answer))
  })
}

/** Posts with these headers alone, to which `fetch` would add some. @returns the status */
export function barePost(url: string, body: string, headers: OutgoingHttpHeaders): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers }, response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** The JSON body of an answer. */
export function problemIn(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
}

function isWhole(answer: string): boolean {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const length = /content-length: (\d+)/i.exec(head)?.[1]
  return length !== undefined && Buffer.byteLength(rest.join('\r\n\r\n')) >= Number(length)
}
