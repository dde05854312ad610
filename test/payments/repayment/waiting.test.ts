import t from 'tap'
import { submit } from '../../support/engine/operations.ts'
import { approval } from '../../support/ledger/loans.ts'
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

t.test('the posting of a payment that an operation waits for can be tracked', async t => {
  const service = await paymentService(t)
  const { call } = service
  await service.loan('L-1')
  await service.faults([{ kind: 'stuck', match: { on: 'writes' } }])
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), { lender: 'LENDER_02' })
  await service.batch()
  const waiting = encodeURIComponent(await submit(call, 'LOAN_APPROVE', approval('L-1')))
  const { predecessor } = (await call('GET', `/api/ledger/operations/${waiting}`)).body
  t.match(predecessor, /^REPAYMENT\|/)
  const track = () => call('GET', `/api/ledger/track/${encodeURIComponent(predecessor)}?wait=30`)
  const ended = track()
  await service.faults([])
  await call('POST', `/api/ledger/operations/${encodeURIComponent(predecessor)}/resolve`, {
    outcome: 'retry',
  })
  t.match(await ended, {
    status: 200,
    body: { operation_type: 'REPAYMENT', status: 'success', processed_at: String },
  })
})
