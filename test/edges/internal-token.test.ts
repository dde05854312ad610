import { sql } from 'kysely'
import t from 'tap'
import { BEHIND_PROXY, elsewhere } from '../support/http/elsewhere.ts'
import { rawHttp } from '../support/http/raw-http.ts'
import { startTestService, TOKEN } from '../support/service.ts'

const ENDPOINTS = [
  ['POST', '/api/ledger/operate'],
  ['GET', '/api/ledger/track/LOAN_CREATE%7C019a0000-0000-7000-8000-000000000000'],
  ['GET', '/api/ledger/track/%zz'],
  ['GET', `/api/ledger/track/${'x'.repeat(600)}`],
  ['GET', '/api/ledger/operations'],
  ['POST', '/api/account/login'],
  ['POST', '/api/account/register'],
  ['POST', '/api/account/password'],
  ['POST', '/api/account/admin/disable'],
  ['POST', '/api/no/such/path'],
  ['GET', '/api/'],
  ['GET', '/api'],
  ['DELETE', '/api/ledger/operate'],
] as const

/** All tests but the one of several tokens share this service. */
const service = await startTestService(t, { ROLE: 'api', DOCS_ENABLED: 'true', ...BEHIND_PROXY })

t.test('without the internal token every call under /api gets the same 401', async t => {
  const { call } = service
  for (const [method, path] of ENDPOINTS) {
    for (const token of ['', 'wrong', `${TOKEN}x`, TOKEN.toUpperCase(), `${TOKEN}, ${TOKEN}`]) {
      const body = method === 'POST' ? '{not even json' : undefined
      const headers = { 'x-internal-token': token, ...elsewhere() }
      const answer = await call(method, path, body, headers)
      t.equal(answer.status, 401, `${method} ${path}`)
      t.match(answer.headers.get('content-type'), 'application/problem+json')
      t.match(answer.body, {
        status: 401,
        code: 'UNAUTHORIZED',
        detail: 'X-Internal-Token is missing or wrong',
      })
    }
  }
})

t.test('a wrong token is refused before the body has arrived', async t => {
  const { url } = service
  const answer = await rawHttp(
    url,
    'POST /api/ledger/operate HTTP/1.1\r\nhost: x\r\nx-internal-token: wrong\r\n' +
      'content-type: application/json\r\ncontent-length: 200000\r\n\r\n',
  )
  t.match(answer, /^HTTP\/1.1 401 /)
})

t.test('several tokens are valid during a rotation', async t => {
  const next = 'the-next-token-for-tests'
  const { call } = await startTestService(t, { ROLE: 'api', INTERNAL_TOKEN: `${TOKEN},${next}` })
  for (const token of [TOKEN, next]) {
    const { status } = await call('GET', '/api/ledger/operations', undefined, {
      'x-internal-token': token,
    })
    t.equal(status, 200)
  }
})

t.test('with the token, an unknown path is a 404', async t => {
  const { call } = service
  for (const path of ['/api/no/such/path', '/api', '/api/account/%zz', '/api/../etc/passwd']) {
    const { status, body } = await call('GET', path)
    t.equal(status, 404, path)
    t.equal(body.code, 'NOT_FOUND')
  }
})

t.test('health, metrics and documentation require no token', async t => {
  const { call } = service
  for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs']) {
    const { status } = await call('GET', path, undefined, { 'x-internal-token': '' })
    t.equal(status, 200, path)
  }
})

t.test('a request refused for its token stores nothing', async t => {
  const { call, db } = service
  const data = { external_loan_id: 'L-1', approvedOnDate: '05 March 2026' }
  const body = { status: 'LOAN_APPROVE', data }
  await call('POST', '/api/ledger/operate', body, { 'x-internal-token': 'wrong' })
  const { rows } = await sql`select from loanops.operation`.execute(db)
  t.equal(rows.length, 0)
})
