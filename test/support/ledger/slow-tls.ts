import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request as call } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

/** A key for the tests alone, and its certificate for 127.0.0.1. */
const PEM = fileURLToPath(new URL('../loopback.pem', import.meta.url))

/** What agrees on TLS with each call anew, once `open` resolves, and passes it on to the ledger at `target`. */
export async function startSlowTls(t: Test) {
  const pem = readFileSync(PEM)
  const slow = { target: '', open: Promise.resolve(), waiting: 0 }
  const secure = createSecureServer({ key: pem, cert: pem }, (request, response) => {
    const { method, headers, url = '' } = request
    const passedOn = call(new URL(url, slow.target), { method, headers }, answer => {
      response.writeHead(answer.statusCode ?? 0, { ...answer.headers, connection: 'close' })
      answer.pipe(response)
    })
    request.pipe(passedOn)
  })
  const server = createServer({ pauseOnConnect: true }, async socket => {
    slow.waiting++
    await slow.open
    slow.waiting--
    secure.emit('connection', socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const LEDGER_URL = `https://127.0.0.1:${port}/fineract-provider/api/v1`
  return Object.assign(slow, { settings: { LEDGER_URL, LEDGER_CA_FILE: PEM } })
}
