import { sql } from 'kysely'
import t from 'tap'
import { holdCommits, waitingForRow, waitingTransaction } from '../../support/database/locks.ts'
import { capturedA, refundA } from '../../support/payments/gateway-events.ts'
import { allSaved, LENDER, paymentService } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

t.test('a refund that arrives while a repayment’s result commits is its objection', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), LENDER)
  await service.call('POST', '/api/ledger/pause', { reason: 'test' })
  await service.batch()
  await holdCommits(service.db, sql`new.state = 'posted'`, async () => {
    await service.call('POST', '/api/ledger/resume')
    await until(() => waitingTransaction(service.db), 'the result commits')
    await service.webhook('gateway_a', refundA({ id: 'rfnd_1', of: 'pay_1' }), LENDER)
    await service.call('POST', '/api/payments/batch')
    await until(() => waitingForRow(service.db), 'the batch waits for the payment')
  })
  t.match(await service.batch(), { last_error: null })
  t.match(await service.payment('pay_1'), {
    payment: { state: 'posted', reason: null, objection: 'refund' },
  })
  t.match(await service.payment('rfnd_1'), { payment: { state: 'suspense', reason: 'refund' } })
  const { body } = await service.call('GET', '/api/payments')
  t.equal(body.payments.length, 2, 'nothing is set aside as unreadable')
})

t.test('a refund that arrives while a batch’s posting commits stops the repayment', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), LENDER)
  await service.call('POST', '/api/ledger/pause', { reason: 'test' })
  const settled = await holdCommits(service.db, sql`new.state = 'posting'`, async () => {
    await service.call('POST', '/api/payments/batch')
    await until(() => waitingTransaction(service.db), 'the posting commits')
    await service.webhook('gateway_a', refundA({ id: 'rfnd_1', of: 'pay_1' }), LENDER)
    await allSaved(service.db)
    // Another worker that continues the run does this.
    const settled = sql`select core.transform('lender_02_gateway_a', 10)`.execute(service.db)
    await until(() => waitingForRow(service.db), 'the refund waits for the payment')
    return { settled }
  })
  await settled.settled
  await service.call('POST', '/api/ledger/resume')
  const payment = await until(async () => {
    const { payment } = await service.payment('pay_1')
    return payment.state === 'suspense' && payment
  }, 'the repayment ends')
  t.match(payment, { reason: 'refund' })
  t.same(await service.repayments(), [])
})
