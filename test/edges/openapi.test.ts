import t from 'tap'
import { startTestService } from '../support/service.ts'

t.test('/openapi.json describes the whole contract', async t => {
  const { call } = await startTestService(t, { ROLE: 'api', DOCS_ENABLED: 'true' })
  const { paths } = (await call('GET', '/openapi.json')).body
  const parameters = (path: string, method: string, where: string) =>
    paths[path][method].parameters.filter((one: any) => one.in === where)

  t.test('/openapi.json says that the limit of a list is optional', async t => {
    for (const path of ['/api/payments', '/api/payments/batches', '/api/ledger/operations']) {
      const [limit] = parameters(path, 'get', 'query').filter((one: any) => one.name === 'limit')
      t.match(limit, { required: false, schema: { default: 50 } }, path)
      t.equal((await call('GET', path)).status, 200, path)
    }
  })

  t.test('/openapi.json gives answers other than JSON their content type', async t => {
    const types: Record<string, string> = {
      '/api/migration/templates/{type}.csv': 'text/csv',
      '/api/migration/{id}/errors.csv': 'text/csv',
      '/metrics': 'text/plain',
    }
    for (const [path, type] of Object.entries(types))
      t.same(Object.keys(paths[path].get.responses[200].content), [type], path)
  })

  t.test('/openapi.json gives an accepted operation the location of its record', async t => {
    t.ok(paths['/api/ledger/operate'].post.responses[202].headers.Location)
  })

  t.test('/openapi.json says when to retry wherever an answer asks for it', async t => {
    const responses = paths['/api/account/login'].post.responses
    for (const status of [429, 503]) t.ok(responses[status].headers['Retry-After'], String(status))
    t.ok(paths['/api/webhooks/gateway_a'].post.responses[503].headers['Retry-After'])
  })

  t.test('/openapi.json says that what needs approval may be proposed already', async t => {
    const conflicts = Object.entries<any>(paths)
      .flatMap(([path, calls]) => Object.values<any>(calls).map(call => ({ path, ...call })))
      .filter(({ responses }) => responses[403]?.['x-codes'].includes('PERSON_REQUIRED'))
    t.equal(conflicts.length, 22)
    for (const { path, responses } of conflicts)
      t.match(responses[409], { 'x-codes': /CONFLICT/ }, path)
  })

  t.test('/openapi.json lists the headers that a webhook reads, and requires none', async t => {
    const headers = (gateway: string) =>
      parameters(`/api/webhooks/${gateway}`, 'post', 'header').map(
        ({ name, required }: any) => `${name} ${required}`,
      )
    t.same(headers('gateway_a'), ['X-GatewayA-Signature false', 'X-GatewayA-Event-Id false'])
    t.same(headers('gateway_b'), [
      'x-webhook-signature false',
      'x-webhook-timestamp false',
      'x-idempotency-key false',
    ])
  })
})
