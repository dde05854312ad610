import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** Serves requests until the test ends. @returns the URL of the server */
export async function serve(t: Test, listener: RequestListener): Promise<string> {
  const { url, close } = await listen(listener)
  t.teardown(close)
  return url
}

export async function listen(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
