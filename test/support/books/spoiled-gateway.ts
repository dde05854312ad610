import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { until } from '../until.ts'

/** Gateway A's API as at `url`, except that items with these ids lack their currency, so that nobody can read them. */
export async function spoiledGateway(t: Test, url: string) {
  const spoiled = new Set<string>()
  const server = createServer(async (request, response) => {
    const { authorization = '' } = request.headers
    const path = (request.url ?? '').replace('/v1', '')
    const answer = await fetch(url + path, { headers: { authorization } })
    const body: any = await answer.json()
    for (const item of body.items ?? [body]) if (spoiled.has(item.id)) item.currency = null
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await until(async () => server.listening)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, spoiled }
}
