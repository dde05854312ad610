import t from 'tap'
import { endpointsOf } from '../support/http/openapi-requests.ts'
import { startTestService } from '../support/service.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY']

t.test('an unsupported method is refused on every path', async t => {
  const { url, call } = await startTestService(t, { ROLE: 'api', DOCS_ENABLED: 'true' })
  const endpoints = endpointsOf((await call('GET', '/openapi.json')).body)
  const paths = Map.groupBy(endpoints, ({ path }) => path)

  t.test('an unsupported method gets 405 with Allow', async t => {
    for (const [path, calls] of paths) {
      const declared = calls.map(({ method }) => method)
      const has = declared.includes('GET') ? ['HEAD', ...declared] : declared
      const filled = path.replaceAll(/\{type\}/g, 'loans').replaceAll(/\{\w+\}/g, 'x')
      for (const method of METHODS.filter(one => !has.includes(one))) {
        const { status, headers, body } = await call(method, filled)
        t.equal(status, 405, `${method} ${path}`)
        t.equal(headers.get('allow'), has.sort().join(', '))
        if (method !== 'HEAD') t.match(body, { status, code: 'METHOD_NOT_ALLOWED' })
      }
    }
  })

  t.test('an unsupported method requires the token first, except on a webhook', async t => {
    const bare = async (path: string) => (await fetch(url + path, { method: 'PATCH' })).status
    t.equal(await bare('/api/ledger/operate'), 401)
    t.equal(await bare('/api/webhooks/gateway_a'), 405)
    t.equal(await bare('/healthz'), 405)
  })

  t.test('an unsupported method and an unknown path are refused, whatever the body is', async t => {
    const headers = { 'content-type': 'text/plain' }
    for (const [method, path, status] of [
      ['PUT', '/api/ledger/operate', 405],
      ['PUT', '/api/migration/upload', 405],
      ['PUT', '/api/nowhere', 404],
      ['PATCH', '/api/nowhere', 404],
      ['POST', '/api/payments/batch/', 404],
      ['POST', '/api/payments/assign/?x=1', 404],
    ] as const)
      t.equal((await call(method, path, 'x', headers)).status, status, `${method} ${path}`)
  })
})
