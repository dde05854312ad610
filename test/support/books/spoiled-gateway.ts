import type { Test } from 'tap'
import { serve } from '../http/serve.ts'

/** Gateway A's API as at `url`, except that items with these ids lack their currency, so that nobody can read them. */
export async function spoiledGateway(t: Test, url: string) {
  const spoiled = new Set<string>()
  const served = await serve(t, async (request, response) => {
    const { authorization = '' } = request.headers
    const path = (request.url ?? '').replace('/v1', '')
    const answer = await fetch(url + path, { headers: { authorization } })
    const body: any = await answer.json()
    for (const item of body.items ?? [body]) if (spoiled.has(item.id)) item.currency = null
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  return { url: `${served}/v1`, spoiled }
}
