import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { AROUND, fetchAll, gatewaySandbox, PAID_AT } from '../support/books/gateways.ts'
import { lendersFile } from '../support/config/lenders-file.ts'
import { paymentService } from '../support/payments/payments.ts'

async function withGateways(t: Test, changes: NodeJS.ProcessEnv = {}) {
  const gateways = await gatewaySandbox(t)
  const service = await paymentService(t, { ...gateways.settings, ...changes })
  return { gateways, service }
}

const payment = (gateway: string, id: string, more: object = {}) => ({
  gateway,
  id,
  amount: 100_050,
  created_at: PAID_AT,
  notes: { loan_id: 'L-1' },
  ...more,
})

t.test('a payment whose webhook was lost is found, and posted once', async t => {
  const { gateways, service } = await withGateways(t, { GATEWAY_A_WEBHOOK_SECRET: 'secret' })
  await service.loan('L-1')
  await gateways.put('/payments', [
    payment('gateway_a', 'pay_1'),
    payment('gateway_a', 'pay_2', { status: 'refunded' }),
    payment('gateway_a', 'pay_3', { status: 'failed' }),
    payment('gateway_a', 'pay_4', { status: 'authorized' }),
    payment('gateway_b', '9007199254740993'),
  ])
  await gateways.put('/refunds', {
    gateway: 'gateway_a',
    id: 'rfnd_1',
    paymentId: 'pay_2',
    amount: 100_050,
    created_at: PAID_AT,
    status: 'processed',
  })
  const [a, b] = [
    await fetchAll(service.call, 'gateway_a'),
    await fetchAll(service.call, 'gateway_b'),
  ]
  t.match(a, { status: 'completed', fetched: 4, missed: 2, lender: null, last_error: null })
  t.match(b, { status: 'completed', fetched: 1, missed: 1 })
  await service.batch()
  t.match(await fetchAll(service.call, 'gateway_a'), { fetched: 4, missed: 0 })
  t.match(await fetchAll(service.call, 'gateway_b'), { fetched: 1, missed: 0 })
  await service.batch()
  t.same(
    (await service.repayments()).map(({ externalId, amount }) => [externalId, amount]).sort(),
    [
      ['gateway_a-pay_1', '1000.50'],
      ['gateway_b-9007199254740993', '1000.50'],
    ],
  )
  const { rows } = await sql<object>`
    select gateway_payment_id as id, status, trim_scale(amount)::text as amount, source from ops.statement
     order by 1`.execute(service.db)
  t.same(rows, [
    { id: '9007199254740993', status: 'captured', amount: '1000.5', source: 'api' },
    { id: 'pay_1', status: 'captured', amount: '1000.5', source: 'api' },
    { id: 'pay_2', status: 'refunded', amount: '1000.5', source: 'api' },
    { id: 'pay_3', status: 'failed', amount: '1000.5', source: 'api' },
  ])
})

t.test('fetched items are stored as the gateway answered them, with every digit', async t => {
  const { gateways, service } = await withGateways(t, { GATEWAY_B_API_VERSION: '2025-01-01' })
  await gateways.put('/payments', [
    payment('gateway_a', 'pay_1', {
      notes: {},
      order_notes: { loan_id: 'L-1', lender: 'LENDER_03' },
    }),
    payment('gateway_b', '1'),
  ])
  await fetchAll(service.call, 'gateway_a')
  await fetchAll(service.call, 'gateway_b', { ...AROUND, lender: 'LENDER_02' })
  const { rows: a } = await sql<any>`
    select event_type, verified_by, address, event_id, convert_from(body, 'UTF8')::json as body
      from raw.lender_03_gateway_a`.execute(service.db)
  t.match(a, [
    {
      event_type: 'loanops.backfill',
      verified_by: 'gateway_api',
      address: null,
      event_id: null,
      body: {
        event: 'loanops.backfill',
        payload: {
          payment: { entity: { id: 'pay_1', amount: 100_050 } },
          order: { entity: { id: 'order_pay_1', notes: { loan_id: 'L-1' } } },
        },
      },
    },
  ])
  const { rows: b } = await sql<{ text: string }>`
    select convert_from(body, 'UTF8') as text from raw.lender_02_gateway_b`.execute(service.db)
  t.match(
    b[0]?.text,
    /^\{"type":"LOANOPS_BACKFILL","data":\{.*"payment_amount":1000\.50,.*"order":\{/,
  )
})

t.test('a webhook that came first, or comes later, makes no second payment', async t => {
  const { gateways, service } = await withGateways(t)
  await service.loan('L-1')
  for (const [gateway, first, later] of [
    ['gateway_a', 'pay_1', 'pay_2'],
    ['gateway_b', '1', '2'],
  ] as const) {
    await gateways.put(
      '/payments',
      [first, later].map(id => payment(gateway, id)),
    )
    const url = `${service.url}/api/webhooks/${gateway}`
    await gateways.sendWebhook({ gateway, id: first, url })
    await service.batch()
    t.match(await fetchAll(service.call, gateway), { fetched: 2, missed: 1 }, gateway)
    await gateways.sendWebhook({ gateway, id: later, url })
    await service.batch()
    await service.batch()
  }
  t.same((await service.repayments()).map(({ externalId }) => externalId).sort(), [
    'gateway_a-pay_1',
    'gateway_a-pay_2',
    'gateway_b-1',
    'gateway_b-2',
  ])
})

t.test('a webhook that no batch has read yet does not count as missed', async t => {
  const { gateways, service } = await withGateways(t, { GATEWAY_A_WEBHOOK_SECRET: 'secret' })
  await gateways.put('/payments', payment('gateway_a', 'pay_1'))
  const url = `${service.url}/api/webhooks/gateway_a?lender=LENDER_02`
  await gateways.sendWebhook({ gateway: 'gateway_a', id: 'pay_1', url, secret: 'secret' })
  t.match(await fetchAll(service.call, 'gateway_a'), { fetched: 1, missed: 0 })
})

t.test(
  'a payment of which only an unverified event is known is fetched, and not counted as missed',
  async t => {
    const { gateways, service } = await withGateways(t)
    await service.loan('L-1')
    await gateways.put('/payments', payment('gateway_b', '1'))
    const url = `${service.url}/api/webhooks/gateway_b?lender=LENDER_02`
    await gateways.sendWebhook({ gateway: 'gateway_b', id: '1', url })
    await service.batch()
    t.match(await fetchAll(service.call, 'gateway_b', { ...AROUND, lender: 'LENDER_02' }), {
      missed: 0,
    })
    await service.batch()
    const { rows } = await sql<object>`
    select verified_by from core.event where gateway_payment_id = '1'
     order by 1`.execute(service.db)
    t.same(rows, [{ verified_by: 'gateway_api' }, { verified_by: null }])
    t.match(await fetchAll(service.call, 'gateway_b', { ...AROUND, lender: 'LENDER_02' }), {
      missed: 0,
    })
    t.equal((await service.repayments()).length, 1)
  },
)

t.test('fetched payments count for their lender, whose networks do not apply to them', async t => {
  const LENDERS_FILE = lendersFile(t, {
    LENDER_02: {
      gateway_a: { validateSignature: true, secretEnv: 'S', allowedCidrs: ['10.0.0.0/8'] },
    },
  })
  const { gateways, service } = await withGateways(t, { LENDERS_FILE, S: 'secret' })
  await service.loan('L-1')
  await gateways.put('/payments', payment('gateway_a', 'pay_1'))
  await fetchAll(service.call, 'gateway_a', { ...AROUND, lender: 'LENDER_02' })
  await gateways.put('/payments', payment('gateway_a', 'pay_2'))
  await fetchAll(service.call, 'gateway_a', { ...AROUND, lender: 'LENDER_03' })
  await service.batch()
  const { payment: posted } = await service.payment('pay_1')
  t.match(posted, { state: 'posted', lender: 'LENDER_02', verified: true })
  const { payment: other } = await service.payment('pay_2')
  t.match(other, { state: 'suspense', lender: 'LENDER_03' })
})

t.test('a lender is asked for with its own credentials, and gets its payments alone', async t => {
  const LENDERS_FILE = lendersFile(t, {
    LENDER_02: { gateway_a: { apiKeyEnv: 'K', apiSecretEnv: 'KS' } },
  })
  const own = { LENDERS_FILE, K: 'account-2', KS: 'sandbox-secret' }
  const { gateways, service } = await withGateways(t, {
    ...own,
    GATEWAY_A_API_KEY: '',
    GATEWAY_A_API_SECRET: '',
  })
  await gateways.put('/payments', [
    payment('gateway_a', 'pay_1', { account: 'account-2' }),
    payment('gateway_a', 'pay_2', { account: 'account-3' }),
  ])
  const refused = await service.call('POST', '/api/gateways/gateway_a/backfill', AROUND)
  t.equal(refused.status, 409, 'the gateway has no credentials')
  const run = await fetchAll(service.call, 'gateway_a', { ...AROUND, lender: 'LENDER_02' })
  t.match(run, { lender: 'LENDER_02', fetched: 1, missed: 1 })
  const { rows } = await sql`select from raw.lender_02_gateway_a`.execute(service.db)
  t.equal(rows.length, 1)
  const { body } = await service.call('GET', '/api/gateways')
  t.match(body.gateways[0], {
    gateway: 'gateway_a',
    lender: 'LENDER_02',
    missed: 1,
    last_event_at: null,
  })
})

t.test('a refund and a dispute that no webhook reported are found', async t => {
  const { gateways, service } = await withGateways(t)
  for (const [gateway, id] of [
    ['gateway_a', 'pay_1'],
    ['gateway_b', '1'],
  ] as const) {
    await gateways.put('/payments', payment(gateway, id))
    const about = { gateway, paymentId: id, amount: 500, created_at: PAID_AT }
    await gateways.put('/refunds', { ...about, id: `refund_${id}`, status: 'processed' })
    await gateways.put('/disputes', { ...about, id: `dispute_${id}`, status: 'open' })
    await fetchAll(service.call, gateway)
    await service.batch()
    await gateways.put('/disputes', { ...about, id: `dispute_${id}x`, status: 'won' })
    await fetchAll(service.call, gateway)
    await service.batch()
  }
  const { rows } = await sql<object>`
    select kind, gateway_payment_id as id, of_payment_id as "of", state, amount::float8 from core.transaction
     where kind <> 'payment' order by gateway, 1, 2`.execute(service.db)
  t.same(rows, [
    { kind: 'chargeback', id: 'dispute_pay_1', of: 'pay_1', state: 'suspense', amount: 5 },
    { kind: 'chargeback', id: 'dispute_pay_1x', of: 'pay_1', state: 'failed', amount: 5 },
    { kind: 'refund', id: 'refund_pay_1', of: 'pay_1', state: 'suspense', amount: 5 },
    { kind: 'chargeback', id: 'dispute_1', of: '1', state: 'suspense', amount: 5 },
    { kind: 'chargeback', id: 'dispute_1x', of: '1', state: 'failed', amount: 5 },
    { kind: 'refund', id: 'refund_1', of: '1', state: 'suspense', amount: 5 },
  ])
})

t.test('settlements are added to the statement', async t => {
  const { gateways, service } = await withGateways(t)
  const settlement = { id: 'setl_1', at: '2026-02-05T12:00:00Z', utr: 'UTR1' }
  const more = { fee: 118, tax: 18, settlement }
  await gateways.put('/payments', [
    payment('gateway_a', 'pay_1', more),
    payment('gateway_b', '1', more),
  ])
  await fetchAll(service.call, 'gateway_a')
  await fetchAll(service.call, 'gateway_b')
  const { rows } = await sql<object>`
    select fee::text, tax::text, settlement_id, settled_at, utr
     from core.statement`.execute(service.db)
  const settled = {
    fee: '1.00',
    tax: '0.18',
    settlement_id: 'setl_1',
    settled_at: new Date(settlement.at),
    utr: 'UTR1',
  }
  t.same(rows, [settled, settled])
  t.match((await service.call('GET', '/api/payments')).body, { payments: [] })
  await service.batch()
  const { body } = await service.call('GET', '/api/payments')
  const shown = { fee: '1.00', tax: '0.18', settlement_id: 'setl_1', utr: 'UTR1' }
  t.match(body.payments, [shown, shown], 'each payment shows them')
})

t.test('a settlement is shown with its parts, and whether they add up to the paisa', async t => {
  const { gateways, service } = await withGateways(t)
  const settlement = { id: 'setl_1', at: '2026-02-05T12:00:00Z', utr: 'UTR1' }
  const more = { fee: 118, tax: 18, notes: { lender: 'LENDER_02' }, settlement }
  const settlements = async () => {
    const { rows } = await sql<object>`
      select gateway, settlement_id, lender, utr, payments::integer, gross::text, fees::text, tax::text, refunds::text,
             net::text, adds_up
        from ops.settlement order by gateway`.execute(service.db)
    return rows
  }
  for (const [gateway, id] of [
    ['gateway_a', 'pay_1'],
    ['gateway_b', '1'],
  ] as const) {
    await gateways.put('/payments', payment(gateway, id, more))
    await gateways.put('/payments', payment(gateway, `${id}2`, more))
    const refund = { gateway, id: `refund_${id}`, payment_id: id, paymentId: id, amount: 20_050 }
    await gateways.put('/refunds', {
      ...refund,
      created_at: PAID_AT,
      status: 'processed',
      settlement,
    })
    await fetchAll(service.call, gateway)
  }
  const parts = {
    settlement_id: 'setl_1',
    lender: 'LENDER_02',
    utr: 'UTR1',
    payments: 2,
    gross: '2001.00',
    fees: '2.00',
    tax: '0.36',
    refunds: '200.50',
    net: '1798.14',
    adds_up: true,
  }
  t.same(await settlements(), [
    { gateway: 'gateway_a', ...parts },
    { gateway: 'gateway_b', ...parts },
  ])
  await sql`
    update core.settlement_row set paid_out = paid_out - 0.01
     where id = 'pay_1'`.execute(service.db)
  t.match(await settlements(), [{ adds_up: false }, { adds_up: true }])
})

t.test('a fetch for an unknown gateway or lender, or an impossible time, is refused', async t => {
  const { service } = await withGateways(t)
  const ask = async (gateway: string, body: object) =>
    (await service.call('POST', `/api/gateways/${gateway}/backfill`, body)).status
  t.equal(await ask('gateway_x', AROUND), 404)
  t.equal(await ask('gateway_a', { ...AROUND, from: '2026-02-05' }), 400)
  t.equal(await ask('gateway_a', { from: AROUND.to, to: AROUND.from }), 400)
  t.equal(await ask('gateway_a', { ...AROUND, to: '2026-04-09T00:00:01Z' }), 400)
  t.equal(await ask('gateway_a', { ...AROUND, lender: 'NOBODY' }), 400)
  t.equal(await ask('gateway_a', { ...AROUND, more: 1 }), 400)
})
