import t, { type Test } from 'tap'
import { fetchAll } from '../support/books/gateways.ts'
import { oddGateway, rowOfB } from '../support/books/odd-gateway.ts'
import { ALL_DAY } from '../support/books/reconciliation.ts'
import { successB } from '../support/payments/gateway-events.ts'
import { paymentService } from '../support/payments/payments.ts'
import { disputeOfB } from '../support/payments/reversals.ts'

const LATER = '2026-02-05T12:00:00+05:30'
const DISPUTED = {
  event_id: 'event_of_dispute',
  event_type: 'DISPUTE',
  event_amount: 1_000,
  event_currency: 'INR',
  event_time: LATER,
  event_status: 'CLOSED',
}
const LOST = {
  dispute_id: 77,
  dispute_type: 'CHARGEBACK',
  dispute_status: 'CHARGEBACK_MERCHANT_LOST',
  dispute_amount: 1_000,
  dispute_amount_currency: 'INR',
  created_at: LATER,
}

/** Payment 1 and this row, fetched from a gateway that lists these disputes. @returns what became of each */
async function fates(t: Test, row: object, disputes: object[]) {
  const { settings } = await oddGateway(t, ({ path }) => {
    if (path === '/pg/recon') return { data: [rowOfB('1'), row], cursor: null }
    return /disputes$/.test(path) ? disputes : undefined
  })
  const service = await paymentService(t, settings)
  await service.loan('L-1')
  await fetchAll(service.call, 'gateway_b', ALL_DAY)
  await service.batch()
  const { body } = await service.call('GET', '/api/payments')
  return body.payments.map((one: any) => [one.kind, one.of_payment_id, one.state, one.reason])
}

t.test('a dispute in a payment’s list is that payment’s, whether or not it says so', async t => {
  const row = rowOfB('1', { event: DISPUTED })
  const held = ['suspense', 'chargeback']
  t.same((await fates(t, row, [LOST])).sort(), [
    ['chargeback', '1', ...held],
    ['payment', null, ...held],
  ])
})

t.test('a dispute that names no payment is in suspense, and not left out', async t => {
  const flat = { ...DISPUTED, order_id: 'order_1', closed_in_favor_of: 'CUSTOMER' }
  for (const disputes of [[], [LOST]])
    t.same((await fates(t, flat, disputes)).sort(), [
      ['payment', null, 'posted', null],
      ['payment', null, 'suspense', 'unreadable'],
    ])
})

t.test('an open dispute of gateway B has the time of its last change', async t => {
  const service = await paymentService(t)
  await service.webhook('gateway_b', successB({ id: 1, loan: 'L-1' }), { lender: 'LENDER_02' })
  const dispute: any = disputeOfB('DISPUTE_DOCS_RECEIVED', 1_000, 1)
  Object.assign(dispute.data.dispute, { updated_at: LATER, resolved_at: '9999-09-09T00:00:00' })
  await service.webhook('gateway_b', dispute, { lender: 'LENDER_02' })
  await service.batch()
  const { body } = await service.call('GET', '/api/payments?kind=chargeback')
  t.equal(body.payments[0].paid_at, new Date(LATER).toISOString())
})
