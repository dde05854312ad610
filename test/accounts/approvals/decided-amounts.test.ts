import t from 'tap'
import { withApprovals } from '../../support/accounts/approvals.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'

t.test('assigning what is posted in another currency counts as much as posting it', async t => {
  const service = await withApprovals(t, 'payment.post>1000,payment.assign>1000')
  const { asha, ravi, payment } = service
  await service.loan('L-1')
  await service.loan('L-2', { until: 'created' })
  const event = capturedA({ loan: 'L-1', amount: 10_000, currency: 'USD' })
  await service.webhook('gateway_a', event, { lender: 'LENDER_02' })
  await service.batch()
  t.match((await payment('pay_1')).payment, { reason: 'currency_mismatch', amount: '100' })
  const posted = { outcome: 'post', amount: 9_000, paid_on: '06 February 2026', note: 'agreed' }
  const proposed = await asha.post('payments/gateway_a/pay_1/resolve', {
    ...posted,
    external_loan_id: 'L-2',
  })
  t.equal(proposed.status, 202)
  t.match(await ravi.approve(proposed.body.approval_id), { status: 200 })
  await service.batch()
  t.match((await payment('pay_1')).payment, { state: 'suspense', reason: 'loan_not_active' })

  const assigned = await asha.post('payments/gateway_a/pay_1/assign', { external_loan_id: 'L-1' })
  t.match(assigned, { status: 202, body: { act: 'payment.assign' } })
  const { body } = await ravi.get(`approvals/${assigned.body.approval_id}`)
  t.match(body, { amount: '9000', currency: null, facts: { amount: '100', currency: 'USD' } })
})
