import type { Test } from 'tap'
import { TOKEN } from '../support/service.ts'
import { clientOf, type Los, NAMED_TOKEN } from './los.ts'
import { SAMPLES } from './samples.ts'

const OPERATE = '/api/ledger/operate'
const TRACKING_ID = /^CLIENT_CREATE\|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const PROBLEM = ['code', 'detail', 'request_id', 'status', 'title', 'type']

const of = ({ status, body }: { status: number; body: any }) => [status, body.code]
const requestOf = ({ id }: Los) => ({ status: 'CLIENT_CREATE', data: clientOf(id('C-submitted')) })

export async function submitting(t: Test, los: Los) {
  await tokens(t, los)
  await answers(t, los)
  await keys(t, los)
  await refusals(t, los)
  await otherBodies(t, los)
}

async function tokens(t: Test, los: Los) {
  const { call } = los
  const body = requestOf(los)
  const outside = await call('POST', '/ledger/operate', body)
  t.same(of(outside), [404, 'NOT_FOUND'], 'the prefix is /api')
  for (const token of ['', 'wrong', `los:${NAMED_TOKEN}`])
    for (const [method, path] of [
      ['POST', OPERATE],
      ['GET', '/api/ledger/operations'],
      ['POST', '/api/migration/run'],
      ['POST', '/api/account/login'],
    ] as const) {
      const sent = method === 'GET' ? undefined : {}
      t.same(
        of(await call(method, path, sent, { 'x-internal-token': token })),
        [401, 'UNAUTHORIZED'],
        `${path} requires X-Internal-Token, of which its name is no part`,
      )
    }
  for (const token of [TOKEN, NAMED_TOKEN]) {
    const { status } = await call('POST', OPERATE, body, { 'x-internal-token': token })
    t.equal(status, 202, 'each of several internal tokens is accepted')
  }
}

async function answers(t: Test, los: Los) {
  const { status, headers, body } = await los.call('POST', OPERATE, requestOf(los))
  const { tracking_id } = body
  t.equal(status, 202, 'an operation is answered 202')
  t.same(body, { tracking_id, status: 'processing' }, 'the answer is {tracking_id, status}')
  t.match(tracking_id, TRACKING_ID, 'a tracking id is <OPERATION>|<uuid>')
  const located = await los.call('GET', headers.get('location') ?? '')
  t.equal(located.body.tracking_id, tracking_id, 'Location is that of the tracking record')
}

async function keys(t: Test, los: Los) {
  const { call, submit, track, id } = los
  const { status, data } = requestOf(los)
  // A header has no other letters.
  const ascii = encodeURIComponent(id('key'))
  const key = { 'idempotency-key': ascii }
  const first = await submit(status, data, key)
  const again = await submit(status, data, key)
  t.same(again.body, first.body, 'the same key with the same body returns the same tracking_id')
  const turned = { data: Object.fromEntries(Object.entries(data).reverse()), status }
  const reordered = await call('POST', OPERATE, turned, key)
  t.same(reordered.body, first.body, 'the same JSON, regardless of the order of its members')
  const other = await submit(status, { ...data, firstname: 'Meera' }, key)
  t.same(of(other), [422, 'IDEMPOTENCY_KEY_REUSED'], 'the same key with a different body is 422')
  const { body: record } = await track(first.body.tracking_id, '?wait=30')
  const later = await submit(status, data, key)
  t.equal(later.body.tracking_id, record.tracking_id, 'a key lives as long as its operation’s row')
  for (const [length, expected] of [
    [1, 202],
    [255, 202],
    [0, 400],
    [256, 400],
  ] as const) {
    const text = ascii.charAt(0).repeat(length)
    const sent = await submit(status, data, { 'idempotency-key': text })
    t.equal(sent.status, expected, 'an Idempotency-Key has 1 to 255 characters')
  }
}

async function refusals(t: Test, los: Los) {
  const { submit, refused } = los
  const { status, data } = requestOf(los)
  const { body, headers, ...unknown } = await submit('LOAN_CLOSE', data)
  t.same(of({ ...unknown, body }), [400, 'UNKNOWN_OPERATION'], 'no such operation is 400')
  for (const name of Object.keys(SAMPLES))
    t.match(body.detail, name, 'UNKNOWN_OPERATION lists all operations')
  t.same(Object.keys(body).sort(), PROBLEM, 'an error has the members of RFC 9457 and a code')
  t.equal(body.status, 400, 'an error repeats its status')
  const type = headers.get('content-type') ?? ''
  t.match(type, /^application\/problem\+json/, 'errors are application/problem+json')
  const wrong = { ...data, firstname: 7, activationDate: 'today', x: 1 }
  const { errors, ...answer } = await refused(status, wrong)
  t.equal(answer.status, 400, 'an invalid body is 400')
  t.same(
    Object.keys(errors).sort(),
    ['/data/activationDate', '/data/firstname', '/data/x'],
    'all errors in a body are reported together, unknown fields too',
  )
}

async function otherBodies(t: Test, los: Los) {
  const send = (body: unknown, headers = {}) => los.call('POST', OPERATE, body, headers)
  const body = requestOf(los)
  const extra = await send({ ...body, source: 'LOS' })
  const unknown = { code: 'INVALID_PAYLOAD', errors: [{ path: '/source' }] }
  t.match(extra.body, unknown, 'no unknown fields')
  for (const text of ['', '{', '[]', 'null', '"CLIENT_CREATE"'])
    t.same(of(await send(text)), [400, 'INVALID_PAYLOAD'], `no JSON object: ${text}`)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const other = await send('status=CLIENT_CREATE', form)
  t.same(of(other), [415, 'UNSUPPORTED_MEDIA_TYPE'], 'another media type is 415')
  const large = await send(JSON.stringify(body) + ' '.repeat(256 * 1024))
  t.same(of(large), [413, 'PAYLOAD_TOO_LARGE'], 'a body over 256 KiB is 413')
}
