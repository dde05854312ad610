import t, { type Test } from 'tap'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { capturedA, eventA, successB } from '../../support/payments/gateway-events.ts'
import { LENDER, paymentService } from '../../support/payments/payments.ts'

const AWAITING = { state: 'suspense', reason: 'awaiting_review', next_try_at: null }

/** LENDER_02 has the payments of gateway A posted only once a person has seen them. */
async function withReview(t: Test) {
  const LENDERS_FILE = lendersFile(t, { LENDER_02: { gateway_a: { posting: 'review' } } })
  const service = await paymentService(t, { LENDERS_FILE })
  await service.loan('L-1')
  return service
}

t.test('payments of a lender under review wait until an operator assigns them', async t => {
  const service = await withReview(t)
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), LENDER)
  await service.webhook('gateway_b', successB({ loan: 'L-1' }), LENDER)
  t.match(await service.batch(), { posted: 1, suspended: 1 })
  t.match((await service.payment('pay_1')).payment, AWAITING)
  t.match((await service.payment(1_453_002_795, 'gateway_b')).payment, { state: 'posted' })
  await service.webhook('gateway_a', eventA('order.paid', { loan: 'L-1' }), LENDER)
  await service.batch()
  t.match((await service.payment('pay_1')).payment, AWAITING, 'nor with another event')
  t.equal((await service.assign('pay_1', 'L-1')).status, 200)
  t.match(await service.batch(), { posted: 1 })
  t.match((await service.payment('pay_1')).payment, { state: 'posted', external_loan_id: 'L-1' })
})

t.test('the lender of the loan’s product decides on review, whatever the event names', async t => {
  const service = await withReview(t)
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }))
  await service.batch()
  t.match((await service.payment('pay_1')).payment, AWAITING)
})

t.test('an operator who assigned a payment for another reason has seen it', async t => {
  const service = await withReview(t)
  await service.webhook('gateway_a', capturedA(), LENDER)
  await service.batch()
  t.match((await service.payment('pay_1')).payment, { reason: 'no_loan_named' })
  await service.assign('pay_1', 'L-1')
  t.match(await service.batch(), { posted: 1 })
})

t.test('an instalment that may be the mandate itself is posted only once assigned', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  const mandate = {
    type: 'SUBSCRIPTION_PAYMENT_SUCCESS',
    event_time: '2026-02-05T10:00:00+05:30',
    data: {
      cf_payment_id: '49914526',
      payment_type: 'AUTH',
      payment_amount: 2,
      payment_currency: 'INR',
      payment_status: 'SUCCESS',
      subscription_details: { subscription_tags: { external_loan_id: 'L-1' } },
    },
  }
  await service.webhook('gateway_b', mandate, LENDER)
  await service.batch()
  await service.batch()
  t.match((await service.payment('49914526', 'gateway_b')).payment, AWAITING)
  t.equal((await service.assign('49914526', 'L-1', 'gateway_b')).status, 200)
  t.match(await service.batch(), { posted: 1 })
})
