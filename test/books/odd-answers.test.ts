import { sql } from 'kysely'
import t from 'tap'
import { asPerson } from '../support/accounts/as-person.ts'
import { paidB } from '../support/books/confirm.ts'
import { fetchAll } from '../support/books/gateways.ts'
import { itemOfA, listOfA, listOfB, oddGateway, rowOfB } from '../support/books/odd-gateway.ts'
import { ALL_DAY, filled, reconciliation } from '../support/books/reconciliation.ts'
import { lendersFile } from '../support/config/lenders-file.ts'
import { PAID_AT, PAID_AT_ISO, refundA } from '../support/payments/gateway-events.ts'
import { LENDER, paymentService } from '../support/payments/payments.ts'

/**
 * The tests whose payments have ids of their own, and that ask for no other ones, share the gateway and the service.
 */
let answer: Parameters<typeof oddGateway>[1] = () => undefined
const { settings: odd } = await oddGateway(t, asked => answer(asked))
const shared = await paymentService(t, odd)
await shared.loan('L-1')
const repaid = async (ids: string[]) =>
  (await shared.repayments())
    .filter(({ externalId }) => ids.includes(externalId?.replace(/^gateway_[ab]-/, '') ?? ''))
    .map(({ externalId, amount }) => [externalId, Number(amount)])

t.test('a note that cannot be a loan’s name does not stop the fetch', async t => {
  const notes = ['L-1\nL-2', 'x'.repeat(201)].map(loan_id => ({ loan_id }))
  const items = notes.map((one, n) => itemOfA(`pay_odd_${n}`, { notes: one }))
  answer = listOfA(...items, itemOfA('pay_beside'))
  t.match(await fetchAll(shared.call, 'gateway_a', ALL_DAY), { status: 'completed', missed: 3 })
  await shared.batch()
  t.match((await shared.payment('pay_beside')).payment, { state: 'posted' })
  t.match((await shared.payment('pay_odd_0')).payment, { state: 'suspense' })
  t.match((await shared.payment('pay_odd_1')).payment, { reason: 'no_loan_named' })
})

t.test('an item whose id is `..`, which every URL resolves, is unreadable', async t => {
  answer = listOfA(itemOfA('..'))
  const { last_error } = await fetchAll(shared.call, 'gateway_a', ALL_DAY)
  t.match(last_error, /id is not a short text/)
})

t.test('a payment that was given back without being captured is not missing', async t => {
  const givenBack = itemOfA('pay_2', { status: 'refunded', captured: false })
  const { settings } = await oddGateway(t, listOfA(itemOfA('pay_1'), givenBack))
  const service = await paymentService(t, settings)
  await service.loan('L-1')
  t.match(await fetchAll(service.call, 'gateway_a', ALL_DAY), { status: 'completed', missed: 1 })
  await service.batch()
  const { days } = await reconciliation(service.call)
  t.match(days, [{ captured: { payments: 1, amount: '1000.00' } }])
  t.same(filled(days[0]), { unchecked: '1 1000.00' })
})

t.test('a list whose cursors go in a circle ends its fetch, and later fetches go on', async t => {
  const following: Record<string, string> = { '': 'one', one: 'two', two: 'one' }
  answer = ({ path, body }) =>
    path === '/pg/recon'
      ? { data: [rowOfB('circle')], cursor: following[body.pagination.cursor ?? ''] }
      : undefined
  t.match(await fetchAll(shared.call, 'gateway_b', ALL_DAY), {
    status: 'failed',
    last_error: 'gateway B: its list has a page twice',
  })
})

t.test('a list with a page twice ends its fetch, because another page may be lost', async t => {
  const items = Array.from({ length: 100 }, (_, n) => itemOfA(`pay_twice_${n}`))
  for (const list of ['/v1/payments', '/v1/refunds', '/v1/disputes']) {
    answer = ({ path, query }) =>
      path === list && Number(query.get('skip')) <= 100 ? { items } : undefined
    t.match(await fetchAll(shared.call, 'gateway_a', ALL_DAY), {
      status: 'failed',
      last_error: 'gateway A: its list has a page twice',
    })
  }
})

t.test(
  'a page that lacks items which it counts ends its fetch, because they may be lost',
  async t => {
    for (const list of ['/v1/payments', '/v1/refunds', '/v1/disputes']) {
      answer = ({ path, query }) =>
        path === list && query.get('skip') === '0'
          ? { count: 2, items: [itemOfA('pay_1')] }
          : undefined
      t.match(await fetchAll(shared.call, 'gateway_a', ALL_DAY), {
        status: 'failed',
        last_error: 'gateway A: a page of its list lacks items that it counts',
      })
    }
  },
)

t.test('a refund waits while a page of the refunds of its payment lacks items', async t => {
  const { settings } = await oddGateway(t, ({ path }) =>
    path === '/v1/payments/pay_1/refunds' ? { count: 1, items: [] } : undefined,
  )
  const LENDERS_FILE = lendersFile(t, { LENDER_02: { gateway_a: { confirm: true } } })
  const service = await paymentService(t, { ...settings, LENDERS_FILE })
  await service.webhook('gateway_a', refundA({ id: 'rfnd_1', of: 'pay_1' }), LENDER)
  t.match(await service.batch(), { status: 'completed' })
  t.match((await service.payment('rfnd_1')).payment, { state: 'waiting', waiting_for: 'gateway' })
})

t.test('a cursor that is a number leads to the next page as any other', async t => {
  answer = asked =>
    asked.path === '/pg/recon' && asked.body.pagination.cursor === null
      ? { data: [rowOfB('7001')], cursor: 1 }
      : listOfB(rowOfB('7002'))(asked)
  t.match(await fetchAll(shared.call, 'gateway_b', ALL_DAY), { status: 'completed', fetched: 2 })
})

t.test('a row of gateway B is money only if its status says so', async t => {
  const statuses = ['SUCCESS', 'PAID', 'USER_DROPPED', 'VOID', 'ONHOLD', 'PENDING', 'FAILED']
  const rows = statuses.map(event_status => rowOfB(event_status, { event: { event_status } }))
  answer = listOfB(...rows)
  t.match(await fetchAll(shared.call, 'gateway_b', ALL_DAY), { status: 'completed', missed: 2 })
  await shared.batch()
  t.same((await repaid(statuses)).sort(), [
    ['gateway_b-PAID', 1_000],
    ['gateway_b-SUCCESS', 1_000],
  ])
})

t.test('gateway B’s failed attempt without a time and an amount is nothing unreadable', async t => {
  const payment = { payment_time: null, payment_amount: null, payment_currency: null }
  const rows = ['FAILED', 'PENDING', 'CANCELLED'].map(event_status =>
    rowOfB(`untimed_${event_status}`, { event: { event_status, event_amount: 0 }, payment }),
  )
  answer = listOfB(...rows)
  t.match(await fetchAll(shared.call, 'gateway_b', ALL_DAY), {
    status: 'completed',
    missed: 0,
    last_error: null,
  })
})

t.test('a gateway’s answer about one payment does not keep the batch from ending', async t => {
  const { settings } = await oddGateway(t, ({ path }) =>
    path.includes('/payments/')
      ? {
          cf_payment_id: '1',
          // No path can hold it, so the order cannot be asked for.
          order_id: 'order_\ud800',
          payment_status: 'SUCCESS',
          payment_amount: 1_000,
          payment_currency: 'INR',
          payment_time: PAID_AT_ISO,
        }
      : undefined,
  )
  const LENDERS_FILE = lendersFile(t, { LENDER_07: { gateway_b: { confirm: true } } })
  const service = await paymentService(t, { ...settings, LENDERS_FILE })
  await service.loan('L-7', { product: 7 })
  await service.webhook('gateway_b', paidB('1'), { lender: 'LENDER_07' })
  t.match(await service.batch(), { status: 'completed', last_error: null })
  t.match((await service.payment('1', 'gateway_b')).payment, {
    state: 'waiting',
    waiting_for: 'gateway',
  })
})

t.test('a time that the base model does not read either is reported as the gateway’s', async t => {
  const times = [
    '+275760-09-12T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '2026-02-30T10:00:00+05:30',
    '2026-02-04T24:00:00+05:30',
    '2026-02-05T10:00:00.1234567890Z',
  ]
  // Each fetch names only what it set aside itself.
  for (const payment_time of times) {
    answer = listOfB(rowOfB('1', { payment: { payment_time } }))
    t.match(await fetchAll(shared.call, 'gateway_b', ALL_DAY), {
      status: 'completed',
      last_error:
        'gateway B: 1 item could not be read and was set aside: 2026-02-05 1 (payment_time is not a time)',
    })
  }
})

t.test('an item that cannot be read is set aside, and all others are taken', async t => {
  // A payment that is not captured is no money, unless it says that it is captured.
  const created = itemOfA('pay_odd', { currency: null, status: 'created', captured: false })
  const captured = itemOfA('pay_hidden', { amount: '1000.5' })
  const { settings } = await oddGateway(t, asked => {
    const { path } = asked
    if (path === '/pg/recon')
      return {
        data: [rowOfB('8', { payment: { cf_payment_id: null } }), rowOfB('2')],
        cursor: null,
      }
    if (path === '/pg/settlement/recon')
      return { data: [settledOfB(null), settledOfB('2')], cursor: null }
    return listOfA(created, itemOfA('pay_1'), captured, null as never)(asked)
  })
  const service = await paymentService(t, settings)
  await service.loan('L-1')
  for (const n of [1, 2]) {
    t.match(await fetchAll(service.call, 'gateway_a', ALL_DAY), {
      status: 'completed',
      fetched: 1,
      last_error:
        'gateway A: 3 items could not be read and were set aside: 2026-02-05 without an id (currency is missing), 2026-02-05 pay_hidden (amount is not a whole number), 2026-02-05 pay_odd (currency is missing)',
    })
    t.match(await fetchAll(service.call, 'gateway_b', ALL_DAY), {
      status: 'completed',
      last_error:
        'gateway B: 1 item could not be read and was set aside: 2026-02-05 event_8 (cf_payment_id is missing)',
    })
    await service.batch()
    const { rows } = await sql<object>`
      select gateway, hints ->> 'payment_id' as id, hints ->> 'reason' as said from ops.payment
       where state = 'suspense' and reason = 'unreadable' order by 1, 2`.execute(service.db)
    t.same(
      rows,
      [
        { gateway: 'gateway_a', id: 'pay_hidden', said: 'amount is not a whole number' },
        { gateway: 'gateway_a', id: null, said: 'currency is missing' },
        { gateway: 'gateway_b', id: null, said: 'cf_payment_id is missing' },
      ],
      `fetch ${n}`,
    )
  }
  t.same((await service.repayments()).map(({ externalId }) => externalId).sort(), [
    'gateway_a-pay_1',
    'gateway_b-2',
  ])
  const { rows: types } = await sql<object>`
    select source, events::integer from ops.event_type where event_type = 'loanops.unreadable'
     order by 1`.execute(service.db)
  t.same(types, [
    { source: 'unknown_gateway_a', events: 3 },
    { source: 'unknown_gateway_b', events: 1 },
  ])
  const { body } = await service.call('GET', '/api/gateways')
  t.match(
    body.gateways.find(({ gateway }: any) => gateway === 'gateway_b'),
    { last_error: /2026-02-05 event_8/ },
  )
})

t.test('an item that can be read again is no longer named', async t => {
  answer = listOfA(itemOfA('pay_again', { currency: null }))
  await fetchAll(shared.call, 'gateway_a', ALL_DAY)
  answer = listOfA(itemOfA('pay_again'))
  t.match(await fetchAll(shared.call, 'gateway_a', ALL_DAY), {
    status: 'completed',
    missed: 1,
    last_error: null,
  })
  await shared.batch()
  t.same(await repaid(['pay_again']), [['gateway_a-pay_again', 1_000]])
})

t.test('an unreadable item of a payment that is here already is not in suspense', async t => {
  let created_at: number | string = PAID_AT
  const { settings } = await oddGateway(t, asked =>
    listOfA(itemOfA('pay_1', { created_at }))(asked),
  )
  const service = await paymentService(t, settings)
  await service.loan('L-1')
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  await service.batch()
  created_at = 'now'
  t.match(await fetchAll(service.call, 'gateway_a', ALL_DAY), { last_error: /pay_1/ })
  await service.batch()
  const { body } = await service.call('GET', '/api/payments')
  t.match(body.payments, [{ gateway_payment_id: 'pay_1', state: 'posted' }])
  t.equal(body.payments.length, 1)
})

t.test('a payment that an operator posts from an unreadable item is not posted again', async t => {
  let currency: string | null = null
  const { settings } = await oddGateway(t, asked => listOfA(itemOfA('pay_1', { currency }))(asked))
  const service = await paymentService(t, settings)
  await service.loan('L-1')
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  await service.batch()
  const { body } = await service.call('GET', '/api/payments')
  const [{ gateway_payment_id: id }] = body.payments
  const post = {
    outcome: 'post',
    external_loan_id: 'L-1',
    amount: 1_000,
    paid_on: '05 February 2026',
  }
  const resolution = { ...post, note: 'seen at the gateway' }
  t.match(await service.resolve(id, resolution, '', await asPerson(service)), { status: 200 })
  await service.batch()
  currency = 'INR'
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  await service.batch()
  t.match(await service.repayments(), [{ externalId: 'gateway_a-pay_1', amount: 1_000 }])
  t.equal((await service.repayments()).length, 1)
})

t.test('an odd refund or dispute of gateway A hides no other', async t => {
  const reversal = (id: string, more: object) => ({
    id,
    payment_id: 'pay_1',
    amount: 100,
    currency: 'INR',
    created_at: PAID_AT,
    ...more,
  })
  const answers: Record<string, object[]> = {
    '/v1/payments': [itemOfA('pay_1')],
    '/v1/refunds': [
      reversal('rfnd_odd', { payment_id: null, status: 'processed' }),
      reversal('rfnd_1', { status: 'processed' }),
    ],
    '/v1/disputes': [
      reversal('disp_odd', { created_at: null, status: 'open' }),
      reversal('disp_1', { status: 'open' }),
    ],
  }
  const { settings } = await oddGateway(t, ({ path }) => answers[path] && { items: answers[path] })
  const service = await paymentService(t, settings)
  t.match(await fetchAll(service.call, 'gateway_a', ALL_DAY), {
    status: 'completed',
    last_error: /2 items could not be read and were set aside/,
  })
  await service.batch()
  const { rows } = await sql<object>`
    select kind, gateway_payment_id as id from ops.payment where kind <> 'payment'
     order by 1`.execute(service.db)
  t.same(rows, [
    { kind: 'chargeback', id: 'disp_1' },
    { kind: 'refund', id: 'rfnd_1' },
  ])
})

/** A payment in a settlement. */
function settledOfB(cf_payment_id: string | null) {
  const id = cf_payment_id ?? '8'
  return {
    ...rowOfB(id, { payment: { cf_payment_id }, event: { event_settlement_amount: undefined } }),
    settlement_details: { cf_settlement_id: 's_1', settlement_date: PAID_AT_ISO },
  }
}

t.test('a row of gateway B without its own amount and currency has those of its event', async t => {
  const blank = { payment_amount: ' ', payment_currency: '' }
  answer = listOfB(rowOfB('blank', { payment: blank }))
  t.match(await fetchAll(shared.call, 'gateway_b', ALL_DAY), { status: 'completed', missed: 1 })
  await shared.batch()
  t.same(await repaid(['blank']), [['gateway_b-blank', 1_000]])
})

t.test('adjustments of one moment that share an id all count in their settlement', async t => {
  const adjustment = (id: string, amount: string) => ({
    event_details: {
      event_id: 'event_1',
      event_type: 'OTHER_ADJUSTMENT',
      event_amount: amount,
      event_settlement_amount: amount,
      event_currency: 'INR',
      event_time: '2026-02-04T10:00:00+05:30',
    },
    settlement_details: { cf_settlement_id: id, settlement_date: '2026-02-05T10:00:00+05:30' },
  })
  const rows = ['12.50', '7.5'].map(amount => adjustment('s_1', amount))
  const { settings } = await oddGateway(t, ({ path }) =>
    path === '/pg/settlement/recon' ? { data: rows, cursor: null } : undefined,
  )
  const service = await paymentService(t, settings)
  t.match(await fetchAll(service.call, 'gateway_b', ALL_DAY), { status: 'completed' })
  const { rows: kept } = await sql`
    select id, paid_out::text from core.settlement_row r order by r.paid_out`.execute(service.db)
  t.match(kept, [{ paid_out: '7.5' }, { paid_out: '12.5' }])
})
