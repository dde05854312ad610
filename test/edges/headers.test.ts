import t from 'tap'
import { ADMIN, OPERATOR, startWithAccounts } from '../support/accounts/admin.ts'
import { startWithConsole } from '../support/console/console.ts'
import { rawHttp } from '../support/http/raw-http.ts'
import { startTestService, TOKEN } from '../support/service.ts'

/** All tests share this service but those of access tokens, and the one whose many refusals would slow down others. */
const service = await startWithConsole(t, {
  ROLE: 'api',
  DOCS_ENABLED: 'true',
  GATEWAY_A_WEBHOOK_SECRET: 's',
})
const accounts = await startWithAccounts(t)

t.test('every answer forbids browsers to sniff its type, frame it or pass on its URL', async t => {
  const { call } = service
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

t.test('a refusal of a request without a route has the headers of every other answer', async t => {
  const { url } = service
  const host = 'host: x\r\nconnection: close\r\n\r\n'
  for (const request of [
    `GET /console/%zz HTTP/1.1\r\n${host}`,
    `GET /api/%zz HTTP/1.1\r\n${host}`,
    `GET /console/loans/${'l'.repeat(3_000)} HTTP/1.1\r\n${host}`,
    `GET / HTTP/1.1\r\nhost: y\r\n${host}`,
    `GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n${host}`,
    'not HTTP\r\n\r\n',
  ]) {
    const answer = await rawHttp(url, request)
    t.match(answer, /^HTTP\/1.1 4\d\d /)
    for (const header of ['cache-control: no-store', 'x-content-type-options: nosniff'])
      t.match(answer.toLowerCase(), `\r\n${header}\r\n`, request.slice(0, 40))
    t.match(answer.toLowerCase(), "\r\ncontent-security-policy: default-src 'self'")
  }
})

t.test('no answer is kept by a cache, except for files that never change', async t => {
  const { url, call, admin } = service
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

t.test('a file of the console is not kept under the URL of another version', async t => {
  const { url, admin } = service
  const assets = (await admin('/console')).text.match(/\/console\/assets\/[^"]+/g) ?? []
  t.ok(assets.length > 0)
  for (const asset of assets.map(one => one.replace(/\?.*/, '')))
    for (const other of [`${asset}?v=newer`, asset]) {
      const { status, headers } = await fetch(`${url}${other}`)
      t.match([status, headers.get('cache-control')], [200, 'no-store'], other)
    }
})

t.test('each 401 says what it asks for, and never makes a browser ask for a password', async t => {
  const { call, url } = service
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

t.test('each 401 of the console says that it asks for a form', async t => {
  const { anybody, admin } = service
  const wrong = { username: ADMIN.username, password: 'wrong' }
  for (const { status, headers } of [
    await anybody('/console/login', wrong),
    await anybody('/console', undefined, { 'hx-request': 'true' }),
    await admin('/console', undefined, { authorization: 'Bearer junk' }),
  ]) {
    t.equal(status, 401)
    t.match(headers.get('www-authenticate'), /^Form realm=/)
  }
})

t.test('a caller with credentials of an unknown kind is refused, not taken for nobody', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  for (const authorization of ['Basic dTpw', 'Token x', 'x', 'Bearerx y', 'Bearer junk', 'bearer '])
    for (const [method, path] of [
      ['GET', '/api/ledger/operations'],
      ['GET', '/api/no/such/path'],
      ['POST', '/api/payments/batch'],
    ] as const) {
      const { status, body } = await call(method, path, undefined, { authorization })
      t.match({ status, body }, { status: 401, body: { code: 'UNAUTHORIZED' } }, authorization)
    }
})

t.test('an access token that has ended is refused on every call but the login', async t => {
  const { call, admin, operator } = accounts
  await call('POST', `/api/account/${OPERATOR.username}/disable`, undefined, admin)
  for (const path of ['ledger/operations', 'payments', 'callbacks', 'migration'])
    t.equal((await call('GET', `/api/${path}`, undefined, operator)).status, 401, path)
  t.equal((await call('GET', '/api/payments', undefined, admin)).status, 200)
  t.equal((await call('POST', '/api/account/login', ADMIN, operator)).status, 200)
})

t.test('a second access token is refused, not dropped', async t => {
  const { url, admin } = accounts
  const answer = await rawHttp(
    url,
    `GET /api/payments HTTP/1.1\r\nhost: x\r\nx-internal-token: ${TOKEN}\r\n` +
      `authorization: ${admin.authorization}\r\nauthorization: Bearer junk\r\n\r\n`,
  )
  t.match(answer, /^HTTP\/1.1 401 /)
})

t.test('the console refuses an access token beside its cookie', async t => {
  const { url, admin } = service
  for (const [authorization, status] of [
    ['Bearer junk', 401],
    ['Basic dTpw', 200],
  ] as const)
    t.equal((await admin('/console', undefined, { authorization })).status, status, authorization)
  const headers = { authorization: 'Bearer junk' }
  t.equal((await fetch(`${url}/console/login`, { headers })).status, 401)
})
