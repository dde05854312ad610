import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { callbackSecret } from '../support/callbacks/callback-secret.ts'

/** A receiver that takes every callback at once, and keeps none. */
export async function startReceiver() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end())
  })
  server.listen(0, '127.0.0.1')
  await new Promise(done => server.once('listening', done))
  return {
    settings: {
      CALLBACK_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      CALLBACK_SECRET: callbackSecret(),
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
