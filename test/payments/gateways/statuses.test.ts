import t from 'tap'
import { eventA, eventB } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'

t.test('an event whose type says captured, with an unknown status, is unreadable', async t => {
  const service = await paymentService(t)
  const events = [
    'payment.captured',
    'order.paid',
    'payment_link.paid',
    'payment_link.partially_paid',
    'virtual_account.credited',
    'qr_code.credited',
    'invoice.paid',
    'subscription.charged',
  ]
  for (const [i, name] of events.entries())
    await service.webhook('gateway_a', eventA(name, { id: `pay_${i}`, status: 'Captured' }))
  for (const [id, status] of [
    ['b_1', 'PENDING'],
    ['b_2', 'success'],
  ] as const)
    await service.webhook('gateway_b', eventB('PAYMENT_SUCCESS_WEBHOOK', { id, status }))
  const run = await service.batch()
  t.equal(run.suspended, events.length + 2)
  const { body } = await service.call('GET', '/api/payments?state=suspense')
  t.ok(body.payments.every((one: any) => one.reason === 'unreadable'))
  t.same(
    body.payments.map((one: any) => one.hints.payment_id).sort(),
    ['b_1', 'b_2', ...events.map((_, i) => `pay_${i}`)].sort(),
  )
})
