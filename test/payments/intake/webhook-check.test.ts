import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { logger } from '../../../src/log/log.ts'
import { startRole } from '../../../src/role.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { startWithConsole } from '../../support/console/console.ts'
import { capturedA, signedA, signedB } from '../../support/payments/gateway-events.ts'
import { startTestService, testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const A = '/api/webhooks/gateway_a'
const B = '/api/webhooks/gateway_b'
const EVENT = JSON.stringify(capturedA({ loan: 'L-1' }))
const KEPT = 20

type Call = {
  address: string
  status: number
  reason: string | null
  lender: string
  event_type: string | null
}

async function startSigned(t: Test, more: NodeJS.ProcessEnv = {}) {
  const LENDERS_FILE = lendersFile(t, {
    LENDER_02: { gateway_b: { validateSignature: true, secretEnv: 'TWO_B_SECRET' } },
  })
  const changes = { LENDERS_FILE, GATEWAY_A_WEBHOOK_SECRET: 's', TWO_B_SECRET: 'b', ...more }
  const service = await startTestService(t, { ROLE: 'api', ...changes })
  const post = async (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
    (await fetch(service.url + path, { method: 'POST', body, headers })).status
  const calls = async (gateway: string, wanted: number): Promise<Call[]> =>
    until(async () => {
      const { body } = await service.call('GET', `/api/webhooks/check?gateway=${gateway}`)
      return body.calls.length === wanted && body.calls
    })
  return { ...service, changes, post, calls }
}

t.test('each call to a webhook is listed, with what to correct where it was refused', async t => {
  const { post, calls, call } = await startSigned(t)
  const right = signedA('s', EVENT)
  const from = (name: string) => ({ [name]: right['x-gatewaya-signature'] })
  t.equal(await post(`${A}?lender=LENDER_02%20`, EVENT, right), 200)
  t.equal(await post(A, EVENT), 401)
  t.equal(await post(A, EVENT, from('x-razorpay-signature')), 401)
  t.equal(await post(A, EVENT, { 'x-gatewaya-signature': 'sha256=ab' }), 401)
  t.equal(await post(`${A}?lender=LENDER_02`, EVENT, signedA('other', EVENT)), 401)
  t.equal(await post(`${A}?lender=LENDER_02`, 'payload=%7B%7D', right), 400)
  t.equal(await post(A, Buffer.alloc(1_100_000, ' '), right), 413)
  t.equal(await post(A, gzipSync(EVENT), { ...right, 'content-encoding': 'gzip' }), 400)
  const listed = (await calls('gateway_a', 8)).toReversed()
  t.same(
    listed.map(({ status, lender, event_type, reason }) => [status, lender, event_type, reason]),
    [
      [200, 'LENDER_02', 'payment.captured', null],
      [401, 'UNKNOWN', 'payment.captured', 'The header X-GatewayA-Signature is missing'],
      [
        401,
        'UNKNOWN',
        'payment.captured',
        'The header X-GatewayA-Signature is missing; the call has x-razorpay-signature',
      ],
      [
        401,
        'UNKNOWN',
        'payment.captured',
        'The header X-GatewayA-Signature does not hold a signature of 64 hexadecimal digits',
      ],
      [
        401,
        'LENDER_02',
        'payment.captured',
        'The signature does not match the secret of LENDER_02 (GATEWAY_A_WEBHOOK_SECRET): compare it with the one at the gateway, and check that no proxy changes the body',
      ],
      [400, 'LENDER_02', null, 'The body is not a JSON object: have the gateway send JSON'],
      [413, 'UNKNOWN', null, 'The body is larger than 1 MiB'],
      [
        400,
        'UNKNOWN',
        null,
        'The body is compressed: have the gateway, or the proxy, send it as it is',
      ],
    ],
  )
  const { 'x-webhook-timestamp': _, ...withoutTime } = signedB('b', EVENT)
  t.equal(await post(`${B}?lender=LENDER_02`, EVENT, withoutTime), 401)
  t.equal(await post(`${B}?lender=LENDER_02`, EVENT, signedB('other', EVENT)), 401)
  const [second, first] = await calls('gateway_b', 2)
  t.equal(
    first?.reason,
    'The header x-webhook-timestamp is missing; the call has x-webhook-signature',
  )
  t.match(second?.reason, /the secret of LENDER_02 \(TWO_B_SECRET\)/)
  t.equal((await call('GET', '/api/webhooks/check')).body.calls.length, 10, 'of all gateways')
  t.match(await call('GET', '/api/webhooks/check?gateway=gateway_x'), {
    status: 400,
    body: { errors: [{ path: '/gateway' }] },
  })
})

t.test('the last twenty calls of each gateway are kept, from every process, for a day', async t => {
  const service = await startSigned(t)
  const { post, calls, db, databaseUrl, ledger, changes } = service
  const other = await startRole(
    readConfig(testEnv(databaseUrl, ledger.url, { ROLE: 'api', ...changes })),
    logger('silent'),
  )
  t.teardown(() => other.close())
  t.equal(await post(B, '{}'), 200)
  await calls('gateway_b', 1)
  for (let i = 0; i < KEPT + 5; i++) await post(A, EVENT)
  await fetch(`${other.url}${A}`, { method: 'POST', body: '[]' })
  const isOfOther = async () => (await calls('gateway_a', KEPT))[0]?.status === 400
  await until(isOfOther, 'the call to the other process is the newest')
  const { rows } = await sql`select from loanops.webhook_call`.execute(db)
  t.equal(rows.length, KEPT + 1)
  await sql`update loanops.webhook_call set at = at - interval '1 day'`.execute(db)
  await calls('gateway_a', 0)
  t.equal(await post(B, '{}'), 200)
  await calls('gateway_b', 1)
  await until(
    async () => (await sql`select from loanops.webhook_call`.execute(db)).rows.length === 1,
  )
  t.pass('older ones are deleted')
})

t.test('a flood of refused calls pushes out neither stored calls nor those of others', async t => {
  const service = await startSigned(t, { TRUST_PROXY: '127.0.0.1' })
  const { post, calls } = service
  const from = (address: string) => ({ 'x-forwarded-for': address })
  t.equal(await post(A, EVENT, { ...signedA('s', EVENT), ...from('192.0.2.1') }), 200)
  t.equal(await post(A, EVENT, { ...signedA('other', EVENT), ...from('192.0.2.1') }), 401)
  for (let i = 0; i < KEPT; i++) await post(A, '[]', from('198.51.100.7'))
  const kept = async () => {
    const listed = await calls('gateway_a', KEPT)
    return listed.filter(({ address }) => address === '192.0.2.1').map(({ status }) => status)
  }
  t.same(await kept(), [401, 200], 'those of one address')
  for (let i = 0; i < 2 * KEPT; i++) await post(A, '[]', from(`2001:db8:0:${i}::1`))
  await post(B, '[]', from('192.0.2.9'))
  await calls('gateway_b', 1)
  t.same(await kept(), [200], 'those of more addresses than are kept')
})

t.test('a caller’s address is the one the proxies forward, with or without a port', async t => {
  const { post, calls } = await startSigned(t, { TRUST_PROXY: '127.0.0.1,10.0.0.2' })
  const forwarded = {
    '192.0.2.1': '192.0.2.1',
    '192.0.2.2': '192.0.2.2:61598',
    '192.0.2.3': '198.51.100.7:1, 192.0.2.3:61598, 10.0.0.2:443',
    '2001:db8::1': '[2001:db8::1]:61598',
    '2001:db8::2': '2001:db8::2',
  }
  for (const given of Object.values(forwarded)) await post(A, '[]', { 'x-forwarded-for': given })
  const listed = await calls('gateway_a', Object.keys(forwarded).length)
  t.same(listed.map(({ address }) => address).sort(), Object.keys(forwarded))
})

t.test('the sources page of the console shows the last calls', async t => {
  const { url, operator } = await startWithConsole(t, { GATEWAY_A_WEBHOOK_SECRET: 's' })
  await fetch(url + A, { method: 'POST', body: EVENT })
  await until(async () =>
    (await operator('/console/sources')).text.includes('X-GatewayA-Signature is missing'),
  )
  t.pass('with what to correct')
})
