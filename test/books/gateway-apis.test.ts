import t, { type Test } from 'tap'
import { IMPATIENT, type Patience } from '../../src/books/apis/gateway-call.ts'
import { openGatewayApi } from '../../src/books/apis/open-gateway-api.ts'
import { readConfig } from '../../src/config/config.ts'
import type { ApiPayment, GatewayApi } from '../../src/payments/gateways/gateway-api.ts'
import { at } from '../../src/payments/gateways/items/exact-json.ts'
import { majorUnits } from '../../src/payments/gateways/items/major-units.ts'
import { startSandboxGateways } from '../../src/sandbox/gateways/gateway-server.ts'
import { serve } from '../support/http/serve.ts'
import { testEnv } from '../support/service.ts'

const KEY = 'sandbox-key'
const SECRET = 'sandbox-secret'
const DAY = { from: new Date('2026-11-01T00:00:00Z'), to: new Date('2026-11-01T23:59:59Z') }

function open(
  gateway: 'gateway_a' | 'gateway_b',
  url: string,
  { key = KEY, secret = SECRET, version = '2026-01-01', patience }: Options = {},
): GatewayApi {
  const env = testEnv('postgres://u:p@127.0.0.1:5432/d', 'http://127.0.0.1:1/api/v1', {
    GATEWAY_B_API_VERSION: version,
  })
  const account = { gateway, lender: null, url, key, secret }
  const units = majorUnits({ '': 0.01, JPY: 1 })
  return openGatewayApi(readConfig(env), {
    account,
    majorUnits: units,
    ...(patience && { patience }),
  })
}

type Options = { key?: string; secret?: string; version?: string; patience?: Patience }

/** Both gateways' APIs, asked by our clients. */
async function gateways(t: Test) {
  const sandbox = await startSandboxGateways({ port: 0 })
  const a = open('gateway_a', sandbox.urlA)
  const b = open('gateway_b', sandbox.urlB)
  const old = open('gateway_b', sandbox.urlB, { version: '2025-01-01' })
  t.teardown(async () => {
    await Promise.all([a.close(), b.close(), old.close()])
    await sandbox.close()
  })
  const put = (path: string, body: object) =>
    fetch(sandbox.controlUrl + path, { method: 'PUT', body: JSON.stringify(body) })
  const calls = async () =>
    (await (await fetch(`${sandbox.controlUrl}/calls`)).json()) as { path: string }[]
  return { a, b, old, put, calls, sandbox }
}

async function paymentsOf(api: GatewayApi): Promise<ApiPayment[]> {
  const all: ApiPayment[] = []
  for (const list of api.lists(DAY)) for await (const { payments } of list) all.push(...payments)
  return all
}

const payments = (gateway: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    gateway,
    id: gateway === 'gateway_a' ? `pay_${n}` : `9007199254${740_993 + n}`,
    amount: 17_000 + n,
    created_at: '2026-11-01T10:00:00Z',
    notes: { loan_id: `L-${n}` },
    fee: 118,
    tax: 18,
  }))

t.test('every payment of a window is listed, to the digit, whatever the page’s size', async t => {
  const { a, b, old, put } = await gateways(t)
  await put('/payments', payments('gateway_a', 250))
  await put('/payments', payments('gateway_b', 1_200))
  const listedA = await paymentsOf(a)
  t.equal(new Set(listedA.map(({ id }) => id)).size, 250)
  t.match(
    listedA.find(({ id }) => id === 'pay_7'),
    {
      amount: '170.07',
      currency: 'INR',
      statusFields: { status: 'captured' },
      fee: '1.00',
      tax: '0.18',
      hasTags: true,
      paidAt: new Date('2026-11-01T10:00:00Z'),
    },
  )
  for (const [api, hasTags] of [
    [b, true],
    [old, false],
  ] as const) {
    const listed = await paymentsOf(api)
    t.equal(new Set(listed.map(({ id }) => id)).size, 1_200)
    t.match(
      listed.find(({ id }) => id === '9007199254740993'),
      { amount: '170.00', statusFields: { event_status: 'SUCCESS' }, hasTags },
    )
    t.match(JSON.stringify(listed[0]?.item), /"payment_amount":170\.00/)
  }
})

t.test('a payment is fetched by id with its order’s notes; an unknown id finds none', async t => {
  const { a, b, put } = await gateways(t)
  await put('/payments', { gateway: 'gateway_a', id: 'pay_1', order_notes: { loan_id: 'L-1' } })
  await put('/payments', { gateway: 'gateway_b', id: '1453002795', status: 'failed' })
  t.match(await a.payment('pay_1', null), { id: 'pay_1', orderId: 'order_pay_1', hasTags: false })
  t.match(await a.order('order_pay_1'), { notes: { loan_id: 'L-1' } })
  t.equal(await a.payment('pay_2', null), undefined)
  t.match(await b.payment('1453002795', 'order_1453002795'), {
    statusFields: { payment_status: 'FAILED' },
  })
  t.equal(await b.payment('1', 'order_1'), undefined)
})

t.test('only a 400 about the id means that gateway A does not have the payment', async t => {
  let description = ''
  const url = await serve(t, (_, response) =>
    response
      .writeHead(400)
      .end(JSON.stringify({ error: { code: 'BAD_REQUEST_ERROR', description } })),
  )
  const a = open('gateway_a', `${url}/v1`, { patience: IMPATIENT })
  t.teardown(() => a.close())
  for (description of [
    'Your IP address is not allowed',
    'The requested URL was not found on the server.',
  ])
    await t.rejects(a.payment('pay_1', null), {
      message: 'it answered 400 (BAD_REQUEST_ERROR) to GET payments',
    })
  for (description of ['The id provided does not exist', 'pay_1 is not a valid id'])
    t.equal(await a.payment('pay_1', null), undefined)
})

t.test('an error page of a proxy does not mean that a gateway lacks the payment', async t => {
  let page = { status: 404, body: '' }
  const url = await serve(t, (_, response) => response.writeHead(page.status).end(page.body))
  const a = open('gateway_a', `${url}/v1`, { patience: IMPATIENT })
  const b = open('gateway_b', `${url}/pg`, { patience: IMPATIENT })
  t.teardown(() => Promise.all([a.close(), b.close()]))
  for (page of [
    { status: 404, body: '<html><title>404 Not Found</title><center>nginx</center></html>' },
    { status: 404, body: '{"message":"no Route matched with those values"}' },
    { status: 404, body: '{"timestamp":"2026-11-01","status":404,"error":"Not Found"}' },
    { status: 400, body: '<html><title>400 Bad Request</title></html>' },
  ]) {
    const message = new RegExp(`^it answered ${page.status} to GET`)
    await t.rejects(a.payment('pay_1', null), { message })
    await t.rejects(a.refund('rfnd_1', 'pay_1', null), { message })
    await t.rejects(b.payment('1', 'order_1'), { message })
    await t.rejects(b.dispute('1', '1'), { message })
  }
})

t.test('refunds and disputes are listed as their gateway describes them', async t => {
  const { a, b, put } = await gateways(t)
  for (const [gateway, id] of [
    ['gateway_a', 'pay_1'],
    ['gateway_b', '1453002795'],
  ]) {
    const created_at = '2026-11-01T10:00:00Z'
    await put('/payments', { gateway, id, created_at })
    const more = { gateway, paymentId: id, amount: 500, created_at }
    await put('/refunds', { ...more, id: `refund-${id}`, status: 'processed' })
    await put('/disputes', { ...more, id: `dispute-${id}`, status: 'open' })
  }
  const listed = async (api: GatewayApi) => {
    const found: unknown[] = []
    for (const list of api.lists(DAY)) for await (const { returns } of list) found.push(...returns)
    return found
  }
  const ofA = { payment_id: 'pay_1' }
  t.match(await listed(a), [
    { kind: 'refund', item: { id: 'refund-pay_1', status: 'processed', ...ofA } },
    { kind: 'dispute', item: { id: 'dispute-pay_1', status: 'open', ...ofA } },
  ])
  const cf_payment_id = '1453002795'
  const refund = { cf_refund_id: `refund-${cf_payment_id}`, refund_status: 'SUCCESS' }
  const dispute = { dispute_id: `dispute-${cf_payment_id}`, dispute_status: 'DISPUTE_CREATED' }
  t.match(await listed(b), [
    { kind: 'refund', item: { ...refund, cf_payment_id } },
    { kind: 'dispute', item: { ...dispute, order_details: { cf_payment_id } } },
  ])
})

t.test('gateway A’s amounts are read in the minor unit of their currency', async t => {
  const { a, put } = await gateways(t)
  const settlement = { id: 'setl_1', at: '2026-11-01T12:00:00Z', utr: 'UTR1' }
  const inYen = { currency: 'JPY', amount: 29_500, fee: 1_180, tax: 180, settlement }
  await put('/payments', { gateway: 'gateway_a', id: 'pay_1', status: 'refunded', ...inYen })
  const inUnits = { amount: '29500', fee: '1000', tax: '180' }
  t.match(await a.payment('pay_1', null), { ...inUnits, refunded: '29500' })
  const settled: unknown[] = []
  for await (const page of a.settled(DAY)) settled.push(...page.settlements)
  t.match(settled, [{ ...inUnits, paid_out: '28320' }])
})

t.test('all refunds of a payment are listed, whatever the page’s size', async t => {
  const { a, put } = await gateways(t)
  await put('/payments', { gateway: 'gateway_a', id: 'pay_1' })
  const refund = { gateway: 'gateway_a', paymentId: 'pay_1', amount: 5, status: 'processed' }
  for (let n = 0; n < 101; n++) await put('/refunds', { ...refund, id: `rfnd_${n}` })
  const payment = (await a.payment('pay_1', null)) as ApiPayment
  t.equal(payment.refunded, '5.05')
  const { returns: listed } = await a.refundsOf(payment)
  t.equal(new Set(listed.map(({ item }) => at(item, 'id'))).size, 101)
  for (const id of ['rfnd_0', 'rfnd_100'])
    t.match(await a.refund(id, 'pay_1', null), { item: { id } }, 'the oldest, the newest')
  t.equal(await a.refund('rfnd_101', 'pay_1', null), undefined)
})

t.test('no refunds are asked for of a payment without any', async t => {
  const { a, put, calls } = await gateways(t)
  await put('/payments', { gateway: 'gateway_a', id: 'pay_1' })
  const payment = (await a.payment('pay_1', null)) as ApiPayment
  const before = (await calls()).length
  t.same(await a.refundsOf(payment), { returns: [], unreadable: [] })
  t.equal((await calls()).length, before)
})

t.test('settlements are listed with fee, tax and UTR', async t => {
  const { a, b, put } = await gateways(t)
  const settlement = { id: 'setl_1', at: '2026-11-01T12:00:00Z', utr: 'UTR1' }
  await put('/payments', { ...payments('gateway_a', 1)[0], settlement })
  await put('/payments', { ...payments('gateway_b', 1)[0], settlement })
  for (const api of [a, b]) {
    const found: unknown[] = []
    for await (const page of api.settled(DAY)) found.push(...page.settlements)
    t.match(found, [
      {
        settlement_id: 'setl_1',
        utr: 'UTR1',
        fee: '1.00',
        tax: '0.18',
        settled_at: new Date(settlement.at),
      },
    ])
  }
})

t.test('a gateway overloaded or down is asked again, and then said to be unavailable', async t => {
  const { put, sandbox, calls } = await gateways(t)
  const patient = open('gateway_a', sandbox.urlA)
  t.teardown(() => patient.close())
  await put('/payments', payments('gateway_a', 1))
  await put('/faults', [
    { kind: 'tooMany', times: 1, retryAfter: '0' },
    { kind: 'error', status: 502, times: 1 },
  ])
  t.match(await patient.payment('pay_0', null), { id: 'pay_0' })
  t.equal((await calls()).length, 3)
})

t.test('an answer of another shape or wrong credentials end the fetch with a reason', async t => {
  const { a, put, sandbox } = await gateways(t)
  await put('/faults', [{ kind: 'garbage', times: 1 }])
  await t.rejects(paymentsOf(a), { message: 'items is not a list' })
  const wrong = open('gateway_a', sandbox.urlA, { secret: 'another-secret' })
  t.teardown(() => wrong.close())
  await t.rejects(paymentsOf(wrong), { message: /^it answered 401 \(BAD_REQUEST_ERROR\) to / })
})

t.test('a gateway that cannot be reached is reported with the connection’s reason', async t => {
  const closed = open('gateway_a', 'http://127.0.0.1:1', { patience: IMPATIENT })
  t.teardown(() => closed.close())
  await t.rejects(paymentsOf(closed), {
    message: 'it cannot be reached',
    cause: { code: 'ECONNREFUSED' },
  })
})

t.test('an id that servers take for a step leads to no other resource', async t => {
  const { a, b, calls } = await gateways(t)
  const before = (await calls()).length
  for (const id of ['', '.', '..']) {
    t.equal(await a.payment(id, null), undefined)
    t.equal(await a.order(id), undefined)
    t.equal(await a.refund('rfnd_1', id, null), undefined)
    t.equal(await b.payment('1', id), undefined)
    t.equal(await b.payment(id, 'order_1'), undefined)
    t.equal(await b.order(id), undefined)
    t.equal(await b.dispute('d_1', id), undefined)
  }
  t.equal((await calls()).length, before)
})

t.test('an id with characters that no gateway uses is not asked about', async t => {
  const { a, b, calls } = await gateways(t)
  for (const id of ['<script>', "1' or 1=1", "1'or'1", 'a/b', 'a%b', '(1)', '1*', 'é', 'a b']) {
    t.equal(await a.payment(id, null), undefined, id)
    t.equal(await a.order(id), undefined, id)
    t.equal(await b.payment('1', id), undefined, id)
    t.equal(await b.payment(id, 'order_1'), undefined, id)
    t.equal(await b.refund('1', '1', id), undefined, id)
    t.equal(await b.dispute('d_1', id), undefined, id)
  }
  t.same(await calls(), [])
})

t.test('a call that cannot be sent fails, and so does the next one', async t => {
  const { sandbox } = await gateways(t)
  const key = 'copied\u200b'
  const b = open('gateway_b', sandbox.urlB, { key, patience: { ...IMPATIENT, atOnce: 1 } })
  t.teardown(() => b.close())
  await t.rejects(b.order('order_1'), { code: 'UND_ERR_INVALID_ARG' })
  await t.rejects(b.order('order_1'))
})
