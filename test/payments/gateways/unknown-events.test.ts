import { sql } from 'kysely'
import t from 'tap'
import { matchEach } from '../../support/match-each.ts'
import { capturedA, eventA, successB } from '../../support/payments/gateway-events.ts'
import { LENDER, paymentService, replaceView } from '../../support/payments/payments.ts'
import { sourceOf } from '../../support/payments/source.ts'

/** An event of a type that nobody has listed, about the payment of `capturedA()`. */
const rising = (facts: object = {}) => eventA('moon.risen', { status: 'risen', ...facts })

t.test('an unknown type with an amount, an id and a loan is in suspense under that id', async t => {
  const service = await paymentService(t)
  const wallet = {
    event: 'wallet.filled',
    payload: { wallet: { entity: { id: 'w_1', amount: 5, notes: { loan_id: 'L-1' } } } },
  }
  const flat = { type: 'MOON_RISEN', data: { moon_id: 7, credit_amount: '12.50', loan_id: 'L-1' } }
  await service.webhook('gateway_a', rising({ loan: 'L-1' }), LENDER)
  await service.webhook('gateway_a', wallet, LENDER)
  await service.webhook('gateway_b', flat, LENDER)
  await service.webhook('gateway_b', { ...successB({ id: 8 }), type: 'MOON_SET' }, LENDER)
  t.match(await service.batch(), { transformed: 4, suspended: 4 })
  const held = { state: 'suspense', reason: 'unknown_event' }
  t.match(await service.payment('pay_1'), {
    payment: {
      ...held,
      amount: '1000',
      external_loan_id: 'L-1',
      hints: { event_type: 'moon.risen' },
    },
    events: [{ event_type: 'moon.risen' }],
  })
  t.match((await service.payment('w_1')).payment, { ...held, amount: '0.05' })
  t.match((await service.payment(7, 'gateway_b')).payment, { ...held, amount: '12.5' })
  t.match((await service.payment(8, 'gateway_b')).payment, { ...held, currency: 'INR' })
  t.equal((await service.assign('pay_1', 'L-1')).status, 409)
})

t.test('unknown events about several payments of one customer are several payments', async t => {
  const service = await sourceOf(t, 'gateway_b')
  const credit = (ids: object) => ({
    type: 'MOON_PAID',
    data: { ...ids, amount: 5, loan_id: 'L-1' },
  })
  await service.save(
    credit({ account_id: 'acc_1', customerId: 'C', transaction_id: 't_1' }),
    credit({ account_id: 'acc_1', customerId: 'C', transaction_id: 't_2' }),
    credit({ id: 'e_3', order_id: 'o_1', paymentId: 'p_3' }),
  )
  await service.transform()
  t.same((await service.fates()).sort(), [
    'payment p_3 suspense unknown_event',
    'payment t_1 suspense unknown_event',
    'payment t_2 suspense unknown_event',
  ])
})

t.test('events that are no money leave no payment, whatever amounts they carry', async t => {
  const a = await sourceOf(t, 'gateway_a')
  const mandate = {
    id: 'token_1',
    max_amount: 9_999_900,
    recurring_details: { status: 'confirmed' },
    notes: { loan_id: 'L-1' },
  }
  const order = { id: 'order_1', amount: 100, status: 'created', notes: { loan_id: 'L-1' } }
  for (const type of ['token.confirmed', 'token.rejected', 'mandate.given'])
    await a.save({ event: type, payload: { token: { entity: mandate } } })
  await a.save(
    { event: 'order.notification.delivered', payload: { order: { entity: order } } },
    { event: 'order.made', payload: { order: { entity: order } } },
    {
      event: 'order.seen',
      payload: { order: { entity: { ...order, amount: undefined, amount_due: 100 } } },
    },
    eventA('payment.pending', { status: 'pending', loan: 'L-1', payment: { method: 'cod' } }),
    ...['created', 'pending', 'authorized', 'failed'].map(status =>
      rising({ status, loan: 'L-1' }),
    ),
    { event: 'wallet.filled', payload: { wallet: { entity: { id: 'w_1', amount: 5 } } } },
  )
  await a.transform()
  t.same(await a.fates(), [])
  t.same(await a.types(), [
    'mandate.given unknown 1',
    'moon.risen unknown 4',
    'order.made unknown 1',
    'order.notification.delivered ignored 1',
    'order.seen unknown 1',
    'payment.pending ignored 1',
    'token.confirmed ignored 1',
    'token.rejected ignored 1',
    'wallet.filled unknown 1',
  ])
  const b = await sourceOf(t, 'gateway_b')
  await b.save(
    { ...successB({ status: 'PENDING', loan: 'L-1' }), type: 'MOON_SET' },
    { type: 'MANDATE_GIVEN', data: { mandate: { mandate_id: 7, max_amount: 5, loan_id: 'L-1' } } },
    { type: 'MOON_PAID', data: { moon_id: 7, amount: 5, status: 'SUCCESS' } },
  )
  await b.transform()
  t.same(await b.fates(), [])
})

t.test('the mark of a mandate’s limit on a day is undone when its event is reread', async t => {
  const { db, save, transform, fates, types } = await sourceOf(t, 'gateway_a')
  await save({ event: 'token.confirmed', payload: { token: { entity: { max_amount: 100 } } } })
  await transform()
  // A version that did not know the type left this.
  await sql`
    insert into core.event (source, raw_id, gateway, kind, gateway_payment_id, status, amount, currency, paid_at, problem,
      lender, received_at)
    select 'lender_02_gateway_a', id, 'gateway_a', 'payment', 'token_1', 'unknown', 1, 'INR', '2026-02-05T10:00:00Z',
           'unknown_event', 'LENDER_02', received_at
      from raw.lender_02_gateway_a`.execute(db)
  await sql`select core.settle('gateway_a', array['token_1'], has_news => true)`.execute(db)
  t.same(await fates(), ['payment token_1 suspense unknown_event'])
  await sql`select ops.reread('lender_02_gateway_a', '-infinity')`.execute(db)
  await transform()
  t.same(await fates(), [])
  t.same(await types(), ['token.confirmed ignored 1'])
  const { rows } = await sql`select payments from ops.reconciliation where payments > 0`.execute(db)
  t.same(rows, [])
})

t.test('a captured payment of an unknown type is in suspense even if it names no loan', async t => {
  const service = await sourceOf(t, 'gateway_b')
  await service.save({ ...successB(), type: 'MOON_SET' })
  await service.transform()
  t.same(await service.fates(), ['payment 1453002795 suspense unknown_event'])
})

t.test('an unknown type without an amount or an id leaves no payment', async t => {
  const service = await sourceOf(t, 'gateway_a')
  await service.save(
    { event: 'moon.risen' },
    { event: 'moon.risen', payload: { moon: { entity: { id: 'm_1' } } } },
    { event: 'moon.risen', payload: { moon: { entity: { amount: 100 } } } },
    rising({ amount: 0 }),
    { event: 'moon.risen', payload: [1, null, { a: 1 }] },
  )
  await service.transform()
  t.same(await service.fates(), [])
  t.same(await service.types(), ['moon.risen unknown 5'])
})

t.test('where a payment has a known event, unknown ones change nothing, in any order', async t => {
  for (const [known, fate] of [
    [capturedA({ loan: 'L-1' }), 'payment pay_1 waiting'],
    [eventA('payment.failed', { status: 'failed' }), 'payment pay_1 failed'],
  ] as const) {
    const unknown = rising({ amount: 5, currency: 'USD', loan: 'L-2' })
    for (const order of [
      [known, unknown],
      [unknown, known],
    ]) {
      const service = await sourceOf(t, 'gateway_a')
      for (const event of order) {
        await service.save(event)
        await service.transform()
      }
      t.same(await service.fates(), [fate])
      const { rows } =
        await sql`select amount::text, currency, problem from core.transaction`.execute(service.db)
      t.same(rows, [{ amount: '1000.00', currency: 'INR', problem: null }])
    }
  }
})

t.test('an unknown event neither stops a payment nor objects to one that is posted', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), LENDER)
  await service.webhook('gateway_a', rising({ amount: 5 }), LENDER)
  t.match(await service.batch(), { posted: 1, suspended: 0 })
  await service.webhook('gateway_a', rising({ amount: 6, loan: 'L-2' }), LENDER)
  await service.batch()
  const { payment } = await service.payment('pay_1')
  t.match(payment, { state: 'posted', objection: null, amount: '1000' })
})

t.test('an unknown event is read again once its type is known, but not once decided', async t => {
  const service = await sourceOf(t, 'gateway_a')
  await service.save(rising({ loan: 'L-1' }), rising({ id: 'pay_2', loan: 'L-1' }))
  await service.transform()
  await sql`update core.transaction set decision = 'dismiss', state = 'dismissed', reason = null
             where gateway_payment_id = 'pay_2'`.execute(service.db)
  const body = `convert_to(replace(convert_from(r.body, 'UTF8'), 'risen', 'captured'), 'UTF8')`
  await replaceView(service.db, { body })
  const { rows } = await sql`
    select ops.reread('lender_02_gateway_a', now() - interval '1 hour') as events`.execute(
    service.db,
  )
  matchEach(t, rows, [{ events: '1' }])
  t.same(await service.types(), ['moon.risen unknown 1'])
  await service.transform()
  t.same(await service.fates(), ['payment pay_1 waiting', 'payment pay_2 dismissed'])
  t.same(await service.types(), ['moon.risen payment 2'])
})
