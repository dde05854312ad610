import { sql } from 'kysely'
import t from 'tap'
import { matchEach } from '../../support/match-each.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

t.test('a batch run ends during a pause, and its payments are posted after it', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await service.call('POST', '/api/ledger/pause', { reason: 'test' })
  for (const id of ['pay_1', 'pay_2'])
    await service.webhook('gateway_a', capturedA({ id, loan: 'L-1' }), { lender: 'LENDER_02' })
  t.match(await service.batch(), { status: 'completed', posted: 0 })
  const waiting = { state: 'waiting', waiting_for: 'paused' }
  const { body } = await service.call('GET', '/api/payments')
  matchEach(t, body.payments, [waiting, waiting])
  t.equal((await service.repayments()).length, 0)
  await service.call('POST', '/api/ledger/resume')
  for (const id of ['pay_1', 'pay_2'])
    t.ok(await until(async () => (await service.payment(id)).payment.state === 'posted'))
  t.equal((await service.repayments()).length, 2)
})

t.test('a repayment that an operator cancels is posted only by hand', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await service.call('POST', '/api/ledger/pause', { reason: 'test' })
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), { lender: 'LENDER_02' })
  await service.batch()
  const { rows } = await sql<{ id: string }>`
    select 'REPAYMENT|' || operation_id as id from core.transaction`.execute(service.db)
  const id = rows[0]?.id ?? ''
  const path = `/api/ledger/operations/${encodeURIComponent(id)}`
  t.match((await service.call('GET', path)).body, { origin: 'payment', waiting_for: 'paused' })
  t.equal((await service.call('POST', `${path}/cancel`)).status, 202)
  const cancelled = { state: 'suspense', reason: 'ledger_refused', next_try_at: null }
  t.match((await service.payment('pay_1')).payment, cancelled)
  await service.call('POST', '/api/ledger/resume')
  await service.batch()
  t.match((await service.payment('pay_1')).payment, cancelled)
  t.equal((await service.assign('pay_1', 'L-1')).status, 200)
  await service.batch()
  t.equal((await service.repayments()).length, 1)
})
