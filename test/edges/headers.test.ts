import t from 'tap'
import { ADMIN } from '../support/admin.ts'
import { startWithConsole } from '../support/console.ts'
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

t.test('no answer is kept by a cache, except for files that never change', async t => {
  const { url, call, admin } = await startWithConsole(t, { ROLE: 'api' })
  const login = { username: ADMIN.username, password: ADMIN.password }
  for (const { status, headers } of [
    await call('GET', '/api/ledger/operations'),
    await call('GET', '/api/migration/templates/loans.csv'),
    await call('POST', '/api/account/login', login),
    await call('GET', '/api/no/such/path'),
    await admin('/console/operations.csv'),
    await admin('/console'),
  ])
    t.equal(headers.get('cache-control'), 'no-store', `${status}`)
  const [, asset] = /src="(\/console\/assets\/[^"]+)"/.exec((await admin('/console')).text) ?? []
  const { headers } = await fetch(`${url}${asset}`)
  t.match(headers.get('cache-control'), /max-age=\d+, immutable/)
})

t.test('each 401 says what it asks for, and never makes a browser ask for a password', async t => {
  const { call, url } = await startTestService(t, { ROLE: 'api', GATEWAY_A_WEBHOOK_SECRET: 's' })
  const wrong = { username: 'nobody', password: 'not the password' }
  const noToken = { 'x-internal-token': '' }
  for (const [{ status, headers }, scheme] of [
    [
      await call('GET', '/api/ledger/operations', undefined, noToken),
      /^X-Internal-Token realm=.*Bearer realm=/,
    ],
    [
      await call('POST', '/api/payments/batch', undefined, { authorization: 'Bearer x' }),
      /Bearer realm=/,
    ],
    [await call('POST', '/api/account/login', wrong), /^Password realm=/],
    [
      await fetch(`${url}/api/webhooks/gateway_a`, { method: 'POST', body: '{}' }),
      /^Signature realm=/,
    ],
  ] as const) {
    t.equal(status, 401)
    t.match(headers.get('www-authenticate'), scheme)
    t.notMatch(headers.get('www-authenticate'), /basic/i)
  }
})

t.test('a caller with credentials of an unknown kind is refused, not taken for nobody', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  for (const authorization of ['Basic dTpw', 'Token x', 'x', 'Bearerx y'])
    for (const [method, path] of [
      ['GET', '/api/ledger/operations'],
      ['POST', '/api/payments/batch'],
    ] as const) {
      const { status, body } = await call(method, path, undefined, { authorization })
      t.match({ status, body }, { status: 401, body: { code: 'UNAUTHORIZED' } }, authorization)
    }
})
