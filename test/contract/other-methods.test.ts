import t from 'tap'
import { endpointsOf } from '../support/openapi-requests.ts'
import { startTestService } from '../support/service.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY']

t.test('a method that a path does not have is refused', async t => {
  const { url, call } = await startTestService(t, { ROLE: 'api', DOCS_ENABLED: 'true' })
  const endpoints = endpointsOf((await call('GET', '/openapi.json')).body)
  const paths = Map.groupBy(endpoints, ({ path }) => path)

  t.test('are answered 405, with those that it has', async t => {
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

  t.test('need the token first, except those of a webhook', async t => {
    const bare = async (path: string) => (await fetch(url + path, { method: 'PATCH' })).status
    t.equal(await bare('/api/ledger/operate'), 401)
    t.equal(await bare('/api/webhooks/gateway_a'), 405)
    t.equal(await bare('/healthz'), 405)
  })

  t.test('do not make another path of one that does not exist', async t => {
    t.equal((await call('PATCH', '/api/nowhere')).status, 404)
  })
})
