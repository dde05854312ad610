import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { fitting } from '../support/http/from-schema.ts'
import { endpointsOf } from '../support/http/openapi-requests.ts'
import { problemIn, rawHttp } from '../support/http/raw-http.ts'
import { startTestService, TOKEN } from '../support/service.ts'

const HEAD = `host: x\r\nx-internal-token: ${TOKEN}\r\ncontent-type: application/json\r\n`
const approval = {
  status: 'LOAN_APPROVE',
  data: { external_loan_id: 'L-1', approvedOnDate: '05 March 2026' },
}

const service = await startTestService(t, { ROLE: 'api', DOCS_ENABLED: 'true' })
const { call, url } = service
let accepted = 0
const operate = async (body: unknown, headers?: Record<string, string>) => {
  const answer = await call('POST', '/api/ledger/operate', body, headers)
  if (answer.status === 202) accepted++
  return answer
}
const raw = (bytes: string | Buffer) => rawHttp(url, bytes)
const test = (name: string, body: (t: Test) => Promise<void>) =>
  t.test(name, async t => {
    await body(t)
    t.equal((await call('GET', '/readyz')).status, 200, 'the process goes on')
    const { rows } = await sql`select from loanops.operation`.execute(service.db)
    t.equal(rows.length, accepted, 'only what was accepted is stored')
  })

const endpoints = async () => endpointsOf((await call('GET', '/openapi.json')).body)
const filled = (path: string) =>
  path
    .replace('{gateway}', 'gateway_a')
    .replace('{tracking_id}', `LOAN_APPROVE|${randomUUID()}`)
    .replace(/\{\w+\}/g, 'x')

test('a list refuses the cursor of any other list, but takes one of an earlier version', async t => {
  const lists = (await endpoints()).flatMap(({ path, parameters = [] }) => {
    const cursor = parameters.find(({ name }) => name === 'cursor')
    if (cursor === undefined) return []
    const [unnamed, named] = [false, true].map(isNamed =>
      fc.sample(
        fitting(cursor.schema).filter(one => String(one).includes('~') === isNamed),
        1,
      ),
    )
    return [{ path, cursor: named?.[0], unnamed: unnamed?.[0] }]
  })
  t.ok(lists.length > 10)
  for (const { path, unnamed } of lists) {
    const { body } = await call('GET', `${filled(path)}?cursor=${unnamed}`)
    const errors = body.errors?.filter((one: { path: string }) => one.path === '/cursor') ?? []
    t.same(errors, [], path)
  }
  for (const { path } of lists)
    for (const other of lists.filter(one => one.path !== path)) {
      const { status, body } = await call('GET', `${filled(path)}?cursor=${other.cursor}`)
      const errors = body.errors.filter((one: { path: string }) => one.path === '/cursor')
      t.match({ status, errors }, { status: 400, errors: [{}] }, `${other.path} in ${path}`)
    }
})

test('each parameter that is given twice is refused for that, whatever its values', async t => {
  const gets = (await endpoints()).filter(({ method }) => method === 'GET')
  const asked = gets.flatMap(({ path, parameters = [] }) =>
    parameters.filter(one => one.in === 'query').map(({ name }) => ({ path, name })),
  )
  t.ok(asked.length > 50)
  for (const { path, name } of asked) {
    const { status, body } = await call('GET', `${filled(path)}?${name}=1&${name}=2`)
    t.equal(status, 400, path)
    const { message } = body.errors.find((one: { path: string }) => one.path === `/${name}`)
    t.equal(message, 'is given more than once', path)
  }
})

test('a compressed body is refused because it is compressed', async t => {
  const answer = await fetch(`${url}/api/ledger/operate`, {
    method: 'POST',
    headers: {
      'x-internal-token': TOKEN,
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    },
    body: gzipSync('{}'),
  })
  t.match(await answer.json(), {
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: 'The body is compressed (content-encoding: gzip), and only uncompressed ones are read',
  })
})

test('a body over 256 KiB is refused by its Content-Length, before it arrives', async t => {
  const answer = await raw(
    `POST /api/ledger/operate HTTP/1.1\r\n${HEAD}content-length: 262145\r\n\r\n`,
  )
  t.match(answer, /^HTTP\/1.1 413 /)
  const detail = 'The body is larger than 256 KiB'
  t.match(problemIn(answer), { status: 413, code: 'PAYLOAD_TOO_LARGE', detail })
})

test('a body over 256 KiB without a Content-Length is refused', async t => {
  const chunk = `${(0x40001).toString(16)}\r\n${' '.repeat(0x40001)}\r\n0\r\n\r\n`
  const answer = await raw(
    `POST /api/ledger/operate HTTP/1.1\r\n${HEAD}transfer-encoding: chunked\r\n\r\n${chunk}`,
  )
  t.match(problemIn(answer), { status: 413, code: 'PAYLOAD_TOO_LARGE' })
})

test('a body of exactly 256 KiB is read', async t => {
  const text = JSON.stringify(approval)
  const { status } = await operate(text + ' '.repeat(256 * 1024 - text.length))
  t.equal(status, 202)
})

test('headers or a URL over 16 KiB are refused', async t => {
  const long = 'x'.repeat(17_000)
  for (const request of [
    `GET /api/ledger/operations HTTP/1.1\r\n${HEAD}x-long: ${long}\r\n\r\n`,
    `GET /api/ledger/operations?external_id=${long} HTTP/1.1\r\n${HEAD}\r\n`,
  ]) {
    const answer = await raw(request)
    t.match(answer, /^HTTP\/1.1 431 /)
    t.match(problemIn(answer), { status: 431, code: 'PAYLOAD_TOO_LARGE' })
  }
})

test('an invalid header is refused as a header, not as a query', async t => {
  const { status, body } = await operate(JSON.stringify(approval), {
    'idempotency-key': 'k'.repeat(256),
  })
  t.match(
    { status, body },
    { status: 400, body: { code: 'INVALID_HEADER', detail: /^The header/ } },
  )
  t.match(body.errors, [
    { path: '/idempotency-key', message: 'must be a text of 1 to 255 characters' },
  ])
})

test('an Idempotency-Key that a retry adds again is the same key, and another one is refused', async t => {
  const body = JSON.stringify(approval)
  const send = async (...keys: string[]) =>
    raw(
      `POST /api/ledger/operate HTTP/1.1\r\n${HEAD}content-length: ${body.length}\r\n${keys.map(key => `Idempotency-Key: ${key}\r\n`).join('')}\r\n${body}`,
    )
  const first = await send('k'.repeat(200))
  t.match(first, /^HTTP\/1.1 202 /)
  accepted++
  const again = Array(3).fill('k'.repeat(200))
  // Libraries and proxies join the two in one line, some of them without a blank.
  for (const lines of [again, [again.join(', ')], [again.join(',')], [again[0], again.join(', ')]])
    t.same(problemIn(await send(...lines)), problemIn(first))
  t.match(problemIn(await send('k-1', 'k-2')), {
    status: 400,
    code: 'INVALID_HEADER',
    errors: [{ path: '/idempotency-key', message: /^is sent more than once/ }],
  })
})

test('any content type other than JSON is refused', async t => {
  for (const type of [
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    '*/*',
  ]) {
    const { status, body } = await operate(JSON.stringify(approval), { 'content-type': type })
    t.equal(status, 415, type)
    t.equal(body.code, 'UNSUPPORTED_MEDIA_TYPE')
  }
})

test('a body that names no operation gets the list of operations', async t => {
  for (const body of ['{"status":"__proto__"}', '{"status":"constructor"}', '{"status":""}']) {
    const answer = await operate(body)
    t.match(answer.body, { status: 400, code: 'UNKNOWN_OPERATION', detail: /LOAN_DISBURSE/ }, body)
  }
})

test('a body that is not a JSON object is invalid', async t => {
  for (const body of ['[]', '7', 'null', '"x"', '{}', '{"status":7}', '', '{', '{"a":1', 'a=b']) {
    const answer = await operate(body)
    t.match(answer.body, { status: 400, code: 'INVALID_PAYLOAD' }, body)
  }
  for (const [body, not] of [
    ['[]', 'a list'],
    ['"{}"', 'a text'],
    ['null', 'null'],
    ['{"status":"LOAN_DELETE","data":[]}', 'a list'],
    ['{"status":"LOAN_DELETE","data":"{}"}', 'a text'],
  ])
    t.match((await operate(body)).body.detail, `must be an object, not ${not}`)
})

test('missing and unknown fields are reported together', async t => {
  const { body } = await operate({ status: 'LOAN_APPROVE', Data: approval.data, x: 1 })
  t.match(body, { status: 400, code: 'INVALID_PAYLOAD' })
  t.same(body.errors.map(({ path }: { path: string }) => path).sort(), ['/Data', '/data', '/x'])
  const other = await operate({ status: 'LOAN_DELETE', data: { y: 1 }, x: 1 })
  t.same(other.body.errors.map(({ path }: { path: string }) => path).sort(), [
    '/data/external_loan_id',
    '/data/y',
    '/x',
  ])
})

test('JSON is checked strictly over HTTP, and the refusal names the field', async t => {
  const broken: Record<string, string> = {
    '/data/external_loan_id':
      '{"status":"LOAN_APPROVE","data":{"external_loan_id":"L-1","external_loan_id":"L-2","approvedOnDate":"05 March 2026"}}',
    '/data/__proto__':
      '{"status":"LOAN_APPROVE","data":{"external_loan_id":"L-1","approvedOnDate":"05 March 2026","__proto__":{"isAdmin":true}}}',
    '/data/constructor':
      '{"status":"LOAN_APPROVE","data":{"external_loan_id":"L-1","approvedOnDate":"05 March 2026","constructor":{"prototype":{}}}}',
    '/data/transactionAmount':
      '{"status":"LOAN_DISBURSE","data":{"external_loan_id":"L-1","actualDisbursementDate":"05 March 2026","transactionAmount":1e400}}',
    '/data/note':
      '{"status":"LOAN_DISBURSE","data":{"external_loan_id":"L-1","actualDisbursementDate":"05 March 2026","note":"a\\u0000b"}}',
    '/data/utr_payment_id':
      '{"status":"LOAN_DISBURSE","data":{"external_loan_id":"L-1","actualDisbursementDate":"05 March 2026","utr_payment_id":"\\ud800"}}',
  }
  for (const [path, body] of Object.entries(broken)) {
    const answer = await operate(body)
    t.equal(answer.status, 400, path)
    t.match(answer.body, { code: 'INVALID_PAYLOAD', errors: [{ path }] })
  }
  t.equal(({} as { isAdmin?: boolean }).isAdmin, undefined)
})

test('the texts of CLIENT_CREATE refuse control characters and too many characters', async t => {
  const client = {
    firstname: 'A',
    lastname: 'R',
    externalId: 'C-1',
    activationDate: '05 January 2026',
  }
  for (const [field, value] of [
    ['firstname', 'x'.repeat(51)],
    ['lastname', 'a\nb'],
    ['externalId', 'x'.repeat(101)],
    ['externalId', 'C\u00071'],
    ['externalId', '..'],
    ['mobileNo', '9'.repeat(51)],
    ['emailAddress', 'x'.repeat(151)],
    ['firstname', '\u001b[31m'],
  ] as const) {
    const answer = await operate({ status: 'CLIENT_CREATE', data: { ...client, [field]: value } })
    t.equal(answer.status, 400, field)
    t.match(answer.body, { code: 'INVALID_PAYLOAD', errors: [{ path: `/data/${field}` }] })
  }
})

test('invalid UTF-8 is refused', async t => {
  const text = Buffer.from(JSON.stringify(approval))
  const body = Buffer.concat([text.subarray(0, -3), Buffer.from([0xff, 0xfe]), text.subarray(-3)])
  const head = `POST /api/ledger/operate HTTP/1.1\r\n${HEAD}content-length: ${body.length}\r\n\r\n`
  const answer = await raw(Buffer.concat([Buffer.from(head), body]))
  t.match(problemIn(answer), { status: 400, code: 'INVALID_PAYLOAD', detail: /not UTF-8/ })
})

test('an unknown query parameter is refused and named', async t => {
  for (const [method, path, sent] of [
    ['POST', '/api/payments/batch'],
    ['POST', '/api/account/login', { username: 'asha.rao', password: 'a pass phrase' }],
    ['GET', '/api/payments/gateway_a/pay_1'],
    ['GET', '/api/migration/019a0000-0000-7000-8000-000000000000'],
    ['GET', '/api/ledger/operations'],
  ] as const) {
    const { status, body } = await call(method, `${path}?stauts=x`, sent)
    t.match(
      { status, body },
      { status: 400, body: { code: 'INVALID_QUERY', errors: [{ path: '/stauts' }] } },
    )
  }
})
