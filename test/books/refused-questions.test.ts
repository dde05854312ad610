import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { fetchAll } from '../support/books/gateways.ts'
import { itemOfA, rowOfB } from '../support/books/odd-gateway.ts'
import { ALL_DAY } from '../support/books/reconciliation.ts'
import { serve } from '../support/http/serve.ts'
import { capturedA, refundA } from '../support/payments/gateway-events.ts'
import { paymentService, SECRET, sendSigned } from '../support/payments/payments.ts'
import { startTestService } from '../support/service.ts'

const row = (id: string, event_type: string, more: object = {}) => ({
  ...rowOfB(id, { event: { event_id: `e${id}`, event_amount: 300, event_type } }),
  ...more,
})
/** A payment, a refund, a dispute that names only its order, and a payment that names no loan. */
const ROWS = [
  rowOfB('1'),
  row('2', 'REFUND', { refund_details: { refund_id: 'R' } }),
  row('3', 'DISPUTE', { payment_details: { payment_amount: 1_000 } }),
  { ...rowOfB('4'), order_details: { order_id: 'order_4' } },
]

/** Gateway B, which lists these rows and refuses to say more about any of them. */
async function refusing(t: Test, status: number, code: string) {
  const url = await serve(t, async (request, response) => {
    await request.toArray()
    const { pathname } = new URL(request.url ?? '', 'http://gateway')
    if (pathname === '/pg/recon') return response.end(JSON.stringify({ data: ROWS, cursor: null }))
    if (!pathname.startsWith('/pg/settlement')) response.statusCode = status
    response.end(JSON.stringify({ data: [], cursor: null, code }))
  })
  const service = await startTestService(t, {
    GATEWAY_B_API_URL: `${url}/pg`,
    GATEWAY_B_API_KEY: 'key',
    GATEWAY_B_API_SECRET: 'secret',
    BACKFILL_CRON: '0 0 1 1 *',
  })
  return { ...service, fetch: () => fetchAll(service.call, 'gateway_b', ALL_DAY) }
}

t.test('a row about which gateway B refuses to say more does not end the fetch', async t => {
  const service = await refusing(t, 400, 'order_too_old')
  t.match(await service.fetch(), {
    status: 'completed',
    missed: 2,
    last_error:
      /1 item could not be read.* e3 \(asked about it, it answered 400 \(order_too_old\) to GET orders\/…\/disputes\)/,
  })
  const { rows } = await sql<object>`
    select gateway_payment_id as id from core.statement order by id`.execute(service.db)
  t.same(rows, [{ id: '1' }, { id: '4' }])
  const { rows: stored } = await sql<object>`
    select body from raw.unknown_gateway_b
     where event_type = 'loanops.backfill'`.execute(service.db)
  t.equal(stored.length, 3, 'two payments and a refund')
})

for (const [status, code] of [
  [401, 'request_unauthorized'],
  [400, 'internal_processing_error'],
] as const)
  t.test(`a refusal with ${status} ${code} ends the fetch`, async t => {
    const service = await refusing(t, status, code)
    t.match(await service.fetch(), {
      status: 'failed',
      last_error: `gateway B: it answered ${status} (${code}) to GET orders`,
    })
  })

const settingsOf = (url: string) => ({
  GATEWAY_A_API_URL: `${url}/v1`,
  GATEWAY_A_API_KEY: 'key',
  GATEWAY_A_API_SECRET: 'secret',
  BACKFILL_CRON: '0 0 1 1 *',
})

/** What a fetch of three days from gateway A ends with, which has a payment of each day and refuses these paths. */
async function fetchRefused(t: Test, refused: RegExp, status: number, first: object = {}) {
  const days = ['2026-02-04T18:30:00Z', '2026-02-05T18:30:00Z', '2026-02-06T18:30:00Z']
  const times = days.map(day => String(Date.parse(day) / 1_000))
  const url = await serve(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://gateway')
    const from = searchParams.get('from') ?? ''
    if (refused.test(pathname)) response.statusCode = status
    const more = from === times[0] ? first : {}
    const items =
      pathname === '/v1/payments'
        ? [itemOfA(`pay_${times.indexOf(from)}`, { created_at: from, ...more })]
        : []
    response.end(JSON.stringify({ items, error: { code: 'BAD_REQUEST_ERROR' } }))
  })
  const service = await startTestService(t, settingsOf(url))
  const threeDays = { ...ALL_DAY, to: '2026-02-07T18:30:00Z' }
  const ended = await fetchAll(service.call, 'gateway_a', threeDays)
  const { rows } = await sql<{ id: string }>`
    select f.payment_id as id from raw.unknown_gateway_a r cross join lateral base.gateway_a(r.body) f
     order by 1`.execute(service.db)
  return { ...ended, stored: rows.map(({ id }) => id) }
}

t.test('a list that gateway A refuses to an account keeps no payment from the fetch', async t => {
  for (const [refused, status] of [
    ['settlements', 403],
    ['disputes', 404],
    ['refunds', 400],
  ] as const)
    t.match(await fetchRefused(t, new RegExp(`^/v1/${refused}`), status), {
      status: 'failed',
      missed: 3,
      last_error: `gateway A: it answered ${status} (BAD_REQUEST_ERROR) to GET ${refused}`,
    })
})

t.test('a payment about which gateway A refuses to say more keeps back itself only', async t => {
  for (const [refused, first] of [
    ['refunds', { amount_refunded: 100 }],
    ['bank_transfer', { method: 'bank_transfer', notes: [] }],
  ] as const)
    t.match(await fetchRefused(t, new RegExp(`/payments/.*/${refused}$`), 403, first), {
      status: 'failed',
      missed: 2,
      last_error: `gateway A: it answered 403 (BAD_REQUEST_ERROR) to GET payments/…/${refused}`,
      stored: ['pay_1', 'pay_2'],
    })
})

t.test('a refund whose payment gateway A refuses to show keeps back itself only', async t => {
  const lists: Record<string, object[]> = {
    '/v1/payments': [itemOfA('pay_new')],
    '/v1/refunds': ['pay_1', 'pay_2'].map(
      of => refundA({ id: `rfnd_${of}`, of }).payload.refund.entity,
    ),
  }
  const url = await serve(t, (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://gateway')
    if (pathname === '/v1/payments/pay_1') response.statusCode = 403
    response.end(JSON.stringify({ items: lists[pathname] ?? [] }))
  })
  const service = await startTestService(t, settingsOf(url))
  t.match(await fetchAll(service.call, 'gateway_a', ALL_DAY), {
    status: 'failed',
    missed: 1,
    last_error: 'gateway A: it answered 403 to GET payments',
  })
  const { rows } = await sql<{ id: string }>`
    select f.payment_id as id
      from raw.unknown_gateway_a r cross join lateral base.gateway_a(r.body) f
     order by 1`.execute(service.db)
  t.same(
    rows.map(({ id }) => id),
    ['pay_new', 'rfnd_pay_2'],
  )
})

t.test('an order that gateway A refuses keeps no day of a known payment incomplete', async t => {
  const url = await serve(t, (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://gateway')
    if (pathname === '/v1/orders/order_1') response.statusCode = 403
    const items =
      pathname === '/v1/payments' ? [itemOfA('pay_1', { notes: [], order_id: 'order_1' })] : []
    response.end(JSON.stringify({ items, error: { code: 'BAD_REQUEST_ERROR' } }))
  })
  const service = await paymentService(t, { ...settingsOf(url), GATEWAY_A_WEBHOOK_SECRET: SECRET })
  await sendSigned(service, capturedA({ id: 'pay_1' }))
  await service.batch()
  t.match(await fetchAll(service.call, 'gateway_a', ALL_DAY), { status: 'completed', missed: 0 })
  await service.batch()
  t.match((await service.payment('pay_1')).payment, { reason: 'no_loan_named' })
})
