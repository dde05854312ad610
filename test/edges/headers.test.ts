import t from 'tap'
import { startTestService } from '../support/service.ts'

t.test('every answer forbids browsers to sniff its type, frame it or pass on its URL', async t => {
  const { call } = await startTestService(t, { ROLE: 'api', DOCS_ENABLED: 'true' })
  for (const path of ['/healthz', '/docs', '/api/ledger/operations', '/api/no/such/path', '/x']) {
    const { headers } = await call('GET', path)
    t.equal(headers.get('x-content-type-options'), 'nosniff', path)
    t.equal(headers.get('x-frame-options'), 'SAMEORIGIN')
    t.equal(headers.get('referrer-policy'), 'no-referrer')
    t.match(headers.get('content-security-policy'), "default-src 'self'")
    t.match(headers.get('strict-transport-security'), 'max-age=')
    t.equal(headers.get('x-powered-by'), null)
    t.equal(headers.get('server'), null)
  }
})
