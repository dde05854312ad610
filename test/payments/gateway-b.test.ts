import t from 'tap'
import { factReader } from '../support/facts.ts'
import { eventB, refundB, successB } from '../support/gateway-events.ts'
import { matchEach } from '../support/match-each.ts'

const factsOf = await factReader(t, 'gateway_b')

const paid = {
  kind: 'payment',
  payment_id: '1453002795',
  status: 'captured',
  amount: '1000',
  currency: 'INR',
  paid_at: new Date('2026-02-05T10:00:00+05:30'),
  problem: null,
}

t.test(
  'PAYMENT_SUCCESS_WEBHOOK says who paid what, in rupees, whatever its order was for',
  async t => {
    matchEach(t, await factsOf(successB({ loan: 'L-1' })), [{ ...paid, external_loan_id: 'L-1' }])
    const paise = JSON.stringify(successB({ amount: 1 })).replace(
      '"payment_amount":1',
      '"payment_amount":170.00',
    )
    matchEach(t, await factsOf(paise), [{ amount: '170.00' }])
  },
)

t.test('a payment’s id is a number or a text, and keeps every digit', async t => {
  matchEach(t, await factsOf(successB({ id: '5114910634577' })), [{ payment_id: '5114910634577' }])
  const big = JSON.stringify(successB({ id: 2 })).replace('_id":2,', '_id":90071992547409931,')
  matchEach(t, await factsOf(big), [{ payment_id: '90071992547409931' }])
})

t.test('only external_loan_id and loan_id in the tags name a loan; the rest is a hint', async t => {
  matchEach(t, await factsOf(successB({ tags: { loan_id: 'L-2' } })), [{ external_loan_id: 'L-2' }])
  const [said] = await factsOf(successB())
  t.equal(said?.external_loan_id, null)
  t.same(said?.hints, { order_id: 'order-1', order_amount: 2, customer_id: 'cust-7' })
})

t.test('a failed or abandoned payment is read as failed', async t => {
  for (const [type, status] of [
    ['PAYMENT_FAILED_WEBHOOK', 'FAILED'],
    ['PAYMENT_USER_DROPPED_WEBHOOK', 'USER_DROPPED'],
  ] as const) {
    matchEach(t, await factsOf(eventB(type, { status })), [{ kind: 'payment', status: 'failed' }])
  }
})

t.test('a link’s event, an old virtual account’s and an unknown type are ignored', async t => {
  const order = { order_amount: '22.12', transaction_id: 1, transaction_status: 'SUCCESS' }
  t.same(await factsOf({ type: 'PAYMENT_LINK_EVENT', data: { link_status: 'PAID', order } }), [])
  t.same(await factsOf({ event: 'AMOUNT_COLLECTED', amount: '100', referenceId: '7' }), [])
  t.same(await factsOf({ type: 'SETTLEMENT_SUCCESS', data: {} }), [])
})

t.test(
  'a refund’s status decides its fate; an automatic one is of a payment that was never captured',
  async t => {
    const refund = { kind: 'refund', payment_id: '11325632', of_payment_id: '1453002795' }
    matchEach(t, await factsOf(refundB()), [{ ...refund, status: 'done', amount: '1000' }])
    matchEach(t, await factsOf(refundB({ status: 'PENDING' })), [{ ...refund, status: 'open' }])
    matchEach(t, await factsOf(refundB({ status: 'CANCELLED' })), [{ ...refund, status: 'undone' }])
    const automatic = refundB({ type: 'PAYMENT_AUTO_REFUND' })
    matchEach(t, await factsOf(automatic), [{ ...refund, status: 'never_captured' }])
  },
)

t.test('a refund on a day that does not exist is that payment’s refund all the same', async t => {
  const odd = JSON.stringify(refundB()).replace('2026-02-06T09:59', '2026-02-30T09:59')
  matchEach(t, await factsOf(odd), [
    { kind: 'refund', payment_id: '11325632', of_payment_id: '1453002795', paid_at: null },
  ])
})

t.test('times are strict, and India’s where they name no zone', async t => {
  matchEach(t, await factsOf(successB({ time: '2026-02-05 10:00:00' })), [paid])
  matchEach(t, await factsOf(successB({ time: '2026-02-05T04:30:00.000Z' })), [paid])
  const leapDay = { paid_at: new Date('2024-02-29T23:59:59Z') }
  matchEach(t, await factsOf(successB({ time: '2024-02-29T23:59:59+00' })), [leapDay])
  for (const time of [
    'now',
    'infinity',
    '2026-02-31T10:00:00Z',
    '2025-02-29T10:00:00Z',
    '2026-04-31T10:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-02-00T10:00:00Z',
    '2026-02-05T24:00:00Z',
    '2026-02-05T10:60:00Z',
    '2026-02-05T10:00:00+99:00',
    '0000-02-05T10:00:00Z',
    '05/02/2026',
    7,
    null,
    '',
  ]) {
    const unreadable = { payment_id: null, amount: '1000', problem: 'unreadable' }
    matchEach(t, await factsOf(successB({ time })), [unreadable], String(time))
  }
})

t.test(
  'an unreadable event is unreadable, an invalid amount of money is amount_invalid',
  async t => {
    for (const amount of ['many', null, {}, '1e5']) {
      matchEach(t, await factsOf(successB({ amount })), [{ problem: 'unreadable' }], String(amount))
    }
    for (const amount of [0, -1, 0.001, '10.005']) {
      matchEach(
        t,
        await factsOf(successB({ amount })),
        [{ problem: 'amount_invalid' }],
        String(amount),
      )
    }
    matchEach(t, await factsOf(successB({ id: null })), [{ problem: 'unreadable' }])
    matchEach(t, await factsOf({ type: 'REFUND_STATUS_WEBHOOK', data: {} }), [
      { problem: 'unreadable' },
    ])
    matchEach(t, await factsOf('{"type":"PAYMENT_SUCCESS_WEBHOOK","x":"\\u0000"}'), [
      { problem: 'unreadable' },
    ])
  },
)
