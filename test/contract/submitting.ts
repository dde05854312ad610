import type { Test } from 'tap'
import { TOKEN } from '../support/service.ts'
import { clientOf, type Los, NAMED_TOKEN } from './los.ts'

const OPERATE = '/api/ledger/operate'
const TRACKING_ID = /^CLIENT_CREATE\|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const PROBLEM = ['type', 'title', 'status', 'detail', 'code', 'request_id']
const OPERATIONS =
  'CLIENT_CREATE CLIENT_UPDATE LOAN_CREATE LOAN_UPDATE LOAN_APPROVE LOAN_DISBURSE LOAN_DELETE'

export async function submitting(t: Test, los: Los) {
  const { call, submit, track, refused, id } = los
  const data = clientOf(id('C-submitted'))
  const body = { status: 'CLIENT_CREATE', data }
  const of = ({ status, body }: { status: number; body: any }) => [status, body.code]

  const outside = await call('POST', '/ledger/operate', body)
  t.same(of(outside), [404, 'NOT_FOUND'], 'the prefix is /api')
  for (const token of ['', 'wrong', `los:${NAMED_TOKEN}`])
    for (const [method, path] of [
      ['POST', OPERATE],
      ['GET', '/api/ledger/operations'],
      ['POST', '/api/migration/run'],
      ['POST', '/api/account/login'],
    ] as const)
      t.same(
        of(
          await call(method, path, method === 'GET' ? undefined : {}, {
            'x-internal-token': token,
          }),
        ),
        [401, 'UNAUTHORIZED'],
        `${path} requires X-Internal-Token, of which its name is no part`,
      )
  for (const token of [TOKEN, NAMED_TOKEN]) {
    const { status } = await call('POST', OPERATE, body, { 'x-internal-token': token })
    t.equal(status, 202, 'each of several internal tokens is accepted')
  }

  const answer = await submit('CLIENT_CREATE', data)
  const { tracking_id } = answer.body
  t.equal(answer.status, 202, 'an operation is answered 202')
  t.same(answer.body, { tracking_id, status: 'processing' }, 'the answer is {tracking_id, status}')
  t.match(tracking_id, TRACKING_ID, 'a tracking id is <OPERATION>|<uuid>')
  const location = answer.headers.get('location') ?? ''
  const located = await call('GET', location)
  t.equal(located.body.tracking_id, tracking_id, 'Location is that of the tracking record')

  const ascii = encodeURIComponent(id('key'))
  const key = { 'idempotency-key': ascii }
  const first = await submit('CLIENT_CREATE', data, key)
  const again = await submit('CLIENT_CREATE', data, key)
  t.same(again.body, first.body, 'the same key with the same body returns the same tracking_id')
  const turned = { data: Object.fromEntries(Object.entries(data).reverse()), status: body.status }
  const reordered = await call('POST', OPERATE, turned, key)
  t.same(reordered.body, first.body, 'the same JSON, regardless of the order of its members')
  const other = await submit('CLIENT_CREATE', { ...data, firstname: 'Meera' }, key)
  t.same(of(other), [422, 'IDEMPOTENCY_KEY_REUSED'], 'the same key with a different body is 422')
  const { body: record } = await track(first.body.tracking_id, '?wait=30')
  const later = await submit('CLIENT_CREATE', data, key)
  t.equal(later.body.tracking_id, record.tracking_id, 'a key lives as long as its operation’s row')
  for (const [length, status] of [
    [1, 202],
    [255, 202],
    [0, 400],
    [256, 400],
  ] as const) {
    const text = ascii.charAt(0).repeat(length)
    const sent = await submit('CLIENT_CREATE', data, { 'idempotency-key': text })
    t.equal(sent.status, status, 'an Idempotency-Key has 1 to 255 characters')
  }

  const unknown = await submit('LOAN_CLOSE', data)
  t.same(of(unknown), [400, 'UNKNOWN_OPERATION'], 'an unknown operation is UNKNOWN_OPERATION')
  for (const name of OPERATIONS.split(' '))
    t.match(unknown.body.detail, name, 'UNKNOWN_OPERATION lists the seven operations')
  t.same(Object.keys(unknown.body), PROBLEM, 'an error has the members of RFC 9457 and a code')
  t.equal(unknown.body.status, 400, 'an error repeats its status')
  const type = unknown.headers.get('content-type') ?? ''
  t.match(type, /^application\/problem\+json/, 'errors are application/problem+json')
  const wrong = await refused('CLIENT_CREATE', {
    ...data,
    firstname: 7,
    activationDate: 'today',
    x: 1,
  })
  t.equal(wrong.status, 400, 'an invalid body is 400')
  t.same(
    Object.keys(wrong.errors).sort(),
    ['/data/activationDate', '/data/firstname', '/data/x'],
    'all errors in a body are reported together, unknown fields too',
  )
  const extra = await call('POST', OPERATE, { ...body, source: 'LOS' })
  t.match(
    extra.body,
    { code: 'INVALID_PAYLOAD', errors: [{ path: '/source' }] },
    'no unknown fields',
  )
  for (const text of ['', '{', '[]', 'null', '"CLIENT_CREATE"'])
    t.same(
      of(await call('POST', OPERATE, text)),
      [400, 'INVALID_PAYLOAD'],
      `no JSON object: ${text}`,
    )
  const form = await call('POST', OPERATE, 'status=CLIENT_CREATE', {
    'content-type': 'application/x-www-form-urlencoded',
  })
  t.same(of(form), [415, 'UNSUPPORTED_MEDIA_TYPE'], 'another media type is 415')
  const large = await call('POST', OPERATE, JSON.stringify(body) + ' '.repeat(256 * 1024))
  t.same(of(large), [413, 'PAYLOAD_TOO_LARGE'], 'a body over 256 KiB is 413')
}
