import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { paidB, withConfirm } from '../support/books/confirm.ts'
import { PAID_AT } from '../support/books/gateways.ts'
import {
  capturedA,
  disputeA,
  eventB,
  PAID_AT_ISO,
  refundA,
  refundB,
  signedA,
} from '../support/payments/gateway-events.ts'
import type { PaymentService } from '../support/payments/payments.ts'

const B = 'gateway_b'
const SEVEN = { lender: 'LENDER_07' }
const SIX = { lender: 'LENDER_06' }

const { gateways, service, has, asked, posted, stateOf } = await withConfirm(t)
const { webhook, batch } = service
const test = (name: string, body: (t: Test) => Promise<void>) =>
  t.test(name, async t => {
    await body(t)
    await eachIsPostedOnceAndSettled(t, service)
  })

test('a payment that the gateway confirms is posted, as verified by it', async t => {
  await has(B, '11')
  await has('gateway_a', 'pay_11')
  const early = paidB('11', { time: '2026-01-01T10:00:00+05:30' })
  await webhook(B, early, SEVEN)
  await webhook('gateway_a', capturedA({ id: 'pay_11', loan: 'L-6' }), SIX)
  await batch()
  for (const [id, gateway, lender] of [
    ['11', B, 'LENDER_07'],
    ['pay_11', 'gateway_a', 'LENDER_06'],
  ] as const)
    t.match(await service.payment(id, gateway), {
      payment: { state: 'posted', verified: true, lender },
      events: [
        { event_type: 'loanops.backfill', verified_by: 'gateway_api', counts: true },
        { verified_by: null, counts: 'superseded' },
      ],
    })
  const { payment } = await service.payment('11', B)
  t.equal(Date.parse(payment.paid_at), Date.parse(PAID_AT), 'when the gateway says it was paid')
})

test('a batch ends although another worker’s settings say that nothing needs confirming', async t => {
  const { rows } = await sql<object>`delete from core.confirming returning *`.execute(service.db)
  await has(B, '915')
  await webhook(B, paidB('915'), SEVEN)
  t.match(await batch(), { status: 'completed' })
  t.same((await stateOf('915'))[0], 'waiting')
  await sql`
    insert into core.confirming
    select * from jsonb_populate_recordset(null::core.confirming, ${JSON.stringify(rows)}::jsonb)`.execute(
    service.db,
  )
  await webhook(B, paidB('915', { time: '2026-01-02T10:00:00+05:30' }), SEVEN)
  await batch()
  t.same(await stateOf('915'), ['posted', null, null])
})

test('an event that names no lender waits as well, once its loan is known', async t => {
  await has(B, '12')
  await webhook(B, paidB('12'))
  await webhook(B, paidB('13'))
  await batch()
  t.same(await stateOf('12'), ['posted', null, null])
  t.same(await stateOf('13'), ['suspense', 'not_at_gateway', null])
})

test('the gateway is asked about a refund that comes with its signed payment', async t => {
  const paid = async (id: string) => {
    const body = JSON.stringify(capturedA({ id, loan: 'L-6' }))
    await webhook('gateway_a', body, { headers: signedA('secret', body) })
  }
  await paid('pay_140')
  await batch()
  await paid('pay_141')
  await webhook('gateway_a', refundA({ id: 'rfnd_141', of: 'pay_141' }))
  await batch()
  t.same(await stateOf('pay_141', 'gateway_a'), ['posted', null, null])
  t.same(await stateOf('rfnd_141', 'gateway_a'), ['suspense', 'not_at_gateway', null])
})

test('the loan named only by the gateway is used', async t => {
  await has(B, '14', { notes: {}, order_notes: { loan_id: 'L-77' } })
  await webhook(B, paidB('14', { loan: undefined }), SEVEN)
  await batch()
  t.same(await stateOf('14'), ['posted', null, null])
  t.match((await service.payment('14', B)).payment, { external_loan_id: 'L-77' })
})

test('a payment whose loan the gateway does not name is suspended until assigned', async t => {
  await has(B, '15', { notes: {} })
  await webhook(B, paidB('15'), SEVEN)
  await batch()
  t.same(await stateOf('15'), ['suspense', 'no_loan_named', null])
  await service.assign('15', 'L-7', B)
  await batch()
  t.same(await stateOf('15'), ['posted', null, null])
})

test('a loan that only the gateway names is not the one to which its payment was assigned', async t => {
  await has(B, '19', { notes: {}, order_notes: { loan_id: 'L-77' } })
  await webhook(B, paidB('19', { loan: undefined }))
  await batch()
  t.same(await stateOf('19'), ['suspense', 'no_loan_named', null])
  await service.assign('19', 'L-7', B)
  await batch()
  t.same(await stateOf('19'), ['suspense', 'events_disagree', null])
  t.match(await service.assign('19', 'L-77', B), { status: 200 })
  await batch()
  t.same(await stateOf('19'), ['posted', null, null])
})

test('a payment that the gateway contradicts is not posted', async t => {
  await has(B, '21', { status: 'failed' })
  await has(B, '22', { status: 'authorized' })
  for (const id of ['23', '24', '25']) await has(B, id)
  await has('gateway_a', 'pay_21', { status: 'failed' })
  const otherwise: [string, object][] = [
    ['20', paidB('20')],
    ['21', paidB('21')],
    ['22', paidB('22')],
    ['23', paidB('23', { amount: 1000.01 })],
    ['24', paidB('24', { currency: 'USD' })],
    ['25', paidB('25', { loan: 'L-77' })],
    ['26', paidB('26', { order: null })],
    ['27', paidB('27', { order: '..' })],
  ]
  for (const [, event] of otherwise) t.match(await webhook(B, event, SEVEN), { status: 200 })
  await webhook('gateway_a', capturedA({ id: 'pay_20', loan: 'L-6' }), SIX)
  await webhook('gateway_a', capturedA({ id: 'pay_21', loan: 'L-6' }), SIX)
  await batch()
  for (const [id] of otherwise) t.same(await stateOf(id), ['suspense', 'not_at_gateway', null], id)
  for (const id of ['pay_20', 'pay_21'])
    t.same(await stateOf(id, 'gateway_a'), ['suspense', 'not_at_gateway', null], id)
  t.match((await service.payment('23', B)).payment, {
    detail: 'the gateway says 1000 INR, loan L-7',
    verified: false,
  })
})

test('a denied payment is asked about again until the gateway has it', async t => {
  await webhook(B, paidB('28'), SEVEN)
  await batch()
  t.match((await service.payment('28', B)).payment, {
    state: 'suspense',
    reason: 'not_at_gateway',
    next_try_at: /^20/,
  })
  await has(B, '28')
  await batch()
  t.same(await stateOf('28'), ['posted', null, null])
})

/** The number of payments that all batches suspended, because a scheduled one may come first. */
async function suspended(): Promise<number> {
  const { body } = await service.call('GET', '/api/payments/batches?limit=100')
  return body.batches.reduce((sum: number, one: { suspended: number }) => sum + one.suspended, 0)
}

test('a payment that is denied in two batches counts as suspended in the first', async t => {
  const none = await suspended()
  await webhook(B, paidB('271'), SEVEN)
  await batch()
  t.equal(await suspended(), none + 1)
  const before = (await asked('order_271')).length
  await batch()
  t.ok((await asked('order_271')).length > before)
  t.equal(await suspended(), none + 1)
})

test('a genuine event beside a forged one is posted', async t => {
  await has(B, '29')
  await webhook(B, paidB('29', { amount: 1000.01 }), SEVEN)
  await batch()
  t.same(await stateOf('29'), ['suspense', 'not_at_gateway', null])
  await webhook(B, paidB('29'), SEVEN)
  await batch()
  t.match(await service.payment('29', B), { payment: { state: 'posted', amount: '1000.00' } })
})

test('a lender with credentials of its own is asked for with those', async t => {
  await has(B, '81', { notes: { loan_id: 'L-8' }, account: 'account-8' })
  await webhook(B, paidB('81', { loan: 'L-8' }), SEVEN)
  await batch()
  t.same(await stateOf('81'), ['suspense', 'not_at_gateway', null])
  // Posting it shows whose the loan is.
  await webhook(B, paidB('81', { loan: 'L-8' }))
  await batch()
  t.match((await service.payment('81', B)).payment, {
    state: 'posted',
    raw_table: 'raw.lender_08_gateway_b',
  })
})

test('the gateway of the lender that has the loan now is asked, not of the one that had it', async t => {
  await service.loan('L-moved', { product: 7, until: 'created' })
  await has(B, '82', { notes: { loan_id: 'L-moved' } })
  await webhook(B, paidB('82', { loan: 'L-moved' }))
  await batch()
  await batch()
  t.same(await stateOf('82'), ['suspense', 'loan_not_active', null])
  await service.call('POST', '/api/payments/gateway_b/82/resolve', {
    outcome: 'dismiss',
    note: 'x',
  })
  await service.ledgerCall('DELETE', '/loans/external-id/L-moved')
  await service.loan('L-moved', { product: 8 })
  await sql`
    update core.loan_product set learned_at = learned_at - interval '1 day'
     where external_loan_id = 'L-moved'`.execute(service.db)
  await has(B, '83', { notes: { loan_id: 'L-moved' }, account: 'account-8' })
  await webhook(B, paidB('83', { loan: 'L-moved' }))
  await batch()
  t.match(await service.payment('83', B), {
    payment: { state: 'posted', raw_table: 'raw.lender_08_gateway_b' },
  })
})

test('forged events of no lender do not keep a gateway from being asked', async t => {
  await has(B, '16')
  await webhook(B, paidB('16', { amount: 5 }))
  await webhook(B, paidB('16'))
  await webhook(B, refundB({ id: '516', of: '16' }))
  await batch()
  t.same(await stateOf('16'), ['posted', null, null])
  t.same(await stateOf('516'), ['suspense', 'not_at_gateway', null])
})

test('forged ids that a firewall before the gateway refuses delay no other payment', async t => {
  await gateways.put('/faults', [{ path: '%3Cscript', kind: 'error', status: 403 }])
  for (let n = 0; n < 8; n++)
    await webhook('gateway_a', capturedA({ id: `<script>${n}`, loan: 'L-6' }), SIX)
  await has('gateway_a', 'pay_behind')
  await webhook('gateway_a', capturedA({ id: 'pay_behind', loan: 'L-6' }), SIX)
  await batch()
  await gateways.put('/faults', [])
  t.same(await stateOf('pay_behind', 'gateway_a'), ['posted', null, null])
  t.same(await stateOf('<script>0', 'gateway_a'), ['suspense', 'not_at_gateway', null])
})

test('a payment posted for a lender without confirm gets an objection once one with confirm is named', async t => {
  await has(B, '17')
  await webhook(B, paidB('17', { loan: 'L-2' }), { lender: 'LENDER_02' })
  await batch()
  t.same(await stateOf('17'), ['posted', null, null])
  const bookedOn = async () => (await posted('L-2')).map(({ externalId }) => externalId)
  t.ok((await bookedOn()).includes('gateway_b-17'))
  await webhook(B, paidB('17'), SEVEN)
  await batch()
  t.match((await service.payment('17', B)).payment, {
    state: 'posted',
    objection: 'events_disagree',
  })
})

test('a signed event is posted without asking the gateway', async t => {
  const body = JSON.stringify(capturedA({ id: 'pay_31', loan: 'L-6' }))
  await webhook('gateway_a', body, { ...SIX, headers: signedA('secret', body) })
  await webhook('gateway_a', capturedA({ id: 'pay_32', loan: 'L-2' }), { lender: 'LENDER_02' })
  await batch()
  t.same(await stateOf('pay_31', 'gateway_a'), ['posted', null, null])
  t.same(await stateOf('pay_32', 'gateway_a'), ['posted', null, null])
  for (const id of ['pay_31', 'pay_32']) t.same(await asked(id), [])
})

test('a forged event about a payment that is posted changes nothing', async t => {
  await has(B, '18')
  await webhook(B, paidB('18'), SEVEN)
  await batch()
  t.same(await stateOf('18'), ['posted', null, null])
  await webhook(B, paidB('18', { amount: 5, loan: 'L-77' }), SEVEN)
  await batch()
  const { payment, events } = await service.payment('18', B)
  t.match(payment, { state: 'posted', objection: null })
  t.match(events[0], { counts: 'superseded' })
})

test('a refund or dispute is confirmed as a payment is', async t => {
  const refund = (id: string, of: string) => {
    const event = refundB({ id, of })
    const { refund } = event.data
    return { ...event, data: { refund: { ...refund, order_id: `order_${of}` } } }
  }
  const dispute = (id: string) => {
    const event = disputeA('created', { id: 'pay_71', loan: 'L-6' })
    Object.assign((event.payload as any).dispute.entity, { id })
    return event
  }
  for (const id of ['71', '72']) {
    await has(B, id)
    await webhook(B, paidB(id), SEVEN)
  }
  await has('gateway_a', 'pay_71')
  await webhook('gateway_a', capturedA({ id: 'pay_71', loan: 'L-6' }), SIX)
  await batch()
  await webhook(B, refund('571', '71'), SEVEN)
  await webhook(B, refund('572', '72'), SEVEN)
  await webhook('gateway_a', refundA({ id: 'rfnd_1', of: 'pay_71' }), SIX)
  await webhook('gateway_a', dispute('disp_1'), SIX)
  await webhook('gateway_a', dispute('disp_2'), SIX)
  const now = { amount: 100_000, created_at: PAID_AT }
  await gateways.put('/refunds', {
    gateway: B,
    id: '571',
    paymentId: '71',
    status: 'processed',
    ...now,
  })
  await gateways.put('/disputes', {
    gateway: 'gateway_a',
    id: 'disp_1',
    paymentId: 'pay_71',
    status: 'open',
    ...now,
  })
  await batch()
  t.same(await stateOf('571'), ['suspense', 'refund', null])
  t.same(await stateOf('disp_1', 'gateway_a'), ['suspense', 'chargeback', null])
  for (const [id, gateway] of [
    ['572', B],
    ['rfnd_1', 'gateway_a'],
    ['disp_2', 'gateway_a'],
  ])
    t.same(await stateOf(id as string, gateway), ['suspense', 'not_at_gateway', null], String(id))
  t.match((await service.payment('71', B)).payment, { objection: 'refund' })
  t.match((await service.payment('72', B)).payment, { objection: null })
  t.match((await service.payment('pay_71', 'gateway_a')).payment, { objection: 'chargeback' })
})

test('an updated dispute is confirmed again', async t => {
  const lost = disputeA('lost', { id: 'pay_12', loan: 'L-6' })
  Object.assign((lost.payload as any).dispute.entity, { id: 'disp_9', amount_deducted: 100_000 })
  const put = (status: string) =>
    gateways.put('/disputes', {
      gateway: 'gateway_a',
      id: 'disp_9',
      paymentId: 'pay_12',
      status,
      amount: 100_000,
      created_at: PAID_AT,
    })
  await has('gateway_a', 'pay_12')
  await put('open')
  const open = disputeA('created', { id: 'pay_12', loan: 'L-6' })
  Object.assign((open.payload as any).dispute.entity, { id: 'disp_9' })
  await webhook('gateway_a', open, SIX)
  await batch()
  await webhook('gateway_a', lost, SIX)
  await put('lost')
  await batch()
  const { events } = await service.payment('disp_9', 'gateway_a')
  t.same(
    events.map((one: any) => [one.verified_by, one.counts]),
    [
      ['gateway_api', true],
      [null, 'superseded'],
      ['gateway_api', true],
      [null, 'superseded'],
    ],
  )
})

const resolve = (id: string, resolution: object) =>
  service.call('POST', `/api/payments/${B}/${id}/resolve`, { note: 'seen', ...resolution })

test('an operator’s decision about a forgery is final', async t => {
  const post = { outcome: 'post', external_loan_id: 'L-7', amount: 10, paid_on: '05 February 2026' }
  await has(B, '61', { status: 'failed' })
  await has(B, '64')
  await webhook(B, paidB('61'), SEVEN)
  await webhook(B, paidB('64', { currency: 'USD' }), SEVEN)
  await batch()
  t.match(await service.assign('64', 'L-7', B), { status: 409 })
  t.match(await resolve('61', { outcome: 'dismiss' }), {
    status: 200,
    body: { state: 'dismissed' },
  })
  t.match(await resolve('64', post), {
    status: 200,
    body: { state: 'waiting', waiting_for: 'batch' },
  })
  const before = await asked('64')
  t.ok(before.length > 0)
  await batch()
  t.same(await stateOf('64'), ['posted', null, null])
  t.same(await stateOf('61'), ['dismissed', null, null])
  t.same(await asked('64'), before)
})

test('a dismissed payment that the gateway has after all gets an objection', async t => {
  await has(B, '62', { status: 'failed' })
  await webhook(B, paidB('62'), SEVEN)
  await batch()
  t.match(await resolve('62', { outcome: 'dismiss' }), { status: 200 })
  await has(B, '62', { status: 'captured' })
  await webhook(B, paidB('62', { status: 'SUCCESS', time: '2026-02-05T10:00:00Z' }), SEVEN)
  await batch()
  t.match((await service.payment('62', B)).payment, {
    state: 'dismissed',
    objection: 'events_disagree',
  })
})

test('the gateway is asked about a loss of a failed payment of a loan not seen before', async t => {
  await service.loan('L-79', { product: 7 })
  await webhook(B, eventB('PAYMENT_FAILED_WEBHOOK', { id: '79', loan: 'L-79', status: 'FAILED' }))
  await webhook(B, lossB('79', 'disp_79'))
  await batch()
  t.same(await stateOf('79'), ['failed', null, null])
  t.same(await stateOf('disp_79'), ['suspense', 'not_at_gateway', null])
})

const lossB = (of: string, dispute_id: string) => ({
  type: 'DISPUTE_CLOSED',
  event_time: PAID_AT_ISO,
  data: {
    dispute: {
      dispute_id,
      dispute_status: 'CHARGEBACK_MERCHANT_LOST',
      dispute_amount: 1000,
      created_at: PAID_AT_ISO,
    },
    order_details: { order_id: `order_${of}`, cf_payment_id: of, payment_currency: 'INR' },
  },
})

async function eachIsPostedOnceAndSettled(t: Test, service: PaymentService): Promise<void> {
  const names = (await service.repayments()).map(({ externalId }) => externalId)
  t.equal(new Set(names).size, names.length, 'every payment is posted once')
  const { rows } = await sql`
    select from core.question q
     where said is null and not exists (select from core.transaction t
       where t.gateway_payment_id = q.gateway_payment_id
         and t.unconfirmed = 'unasked')`.execute(service.db)
  t.equal(rows.length, 0, 'nothing is asked about that is confirmed')
}
