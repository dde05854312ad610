import t from 'tap'
import { matchEach } from '../../support/match-each.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'

t.test('a payment whose predecessor on its loan hangs waits for that one', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await service.faults([{ kind: 'stuck', match: { on: 'writes' } }])
  for (const id of ['pay_1', 'pay_2'])
    await service.webhook('gateway_a', capturedA({ id, loan: 'L-1' }), { lender: 'LENDER_02' })
  await service.batch()
  const { body } = await service.call('GET', '/api/payments?state=waiting')
  matchEach(t, body.payments, [{ waiting_for: 'predecessor', next_try_at: null }])
})
