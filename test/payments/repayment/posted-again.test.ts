import t, { type Test } from 'tap'
import { gatewaySandbox } from '../../support/books/gateways.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { expireLeases } from '../../support/engine/leases.ts'
import { capturedA, eventA } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'
import { AUTOMATIC, refund, reversing, withSigned } from '../../support/payments/reversals.ts'
import { startProcess } from '../../support/process.ts'
import { testEnv } from '../../support/service.ts'

const unmade = refund({ status: 'failed', name: 'refund.failed' })

t.test('a returned payment that was assigned is restored with its own amount', async t => {
  const service = await reversing(t)
  await service.signed(capturedA())
  await service.batch()
  t.match(await service.assign('pay_1', 'L-1'), { status: 200 })
  await service.batch()
  await service.signed(refund())
  await service.batch()
  t.same(await service.shown('pay_1'), ['returned', null, null, '1000'])
  const stranger = eventA('order.paid', { id: 'pay_1', loan: 'L-1', amount: 500_000 })
  await service.webhook('gateway_a', stranger, { lender: 'LENDER_03' })
  await service.signed(unmade)
  await service.batch()
  t.match(await service.decide('rfnd_1', 'restore'), { status: 200 })
  await service.batch()
  t.same(await service.standing(), { 'pay_1-r2': 1000 })
})

t.test('a payment that was undone by hand and assigned is decided by its events', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  await service.undo('gateway_a-pay_1')
  await service.readBack()
  t.match(await service.payment('pay_1'), { payment: { reason: 'reversed_at_ledger' } })
  t.match(await service.assign('pay_1', 'L-none'), { status: 200 })
  await service.batch()
  await service.signed(capturedA({ loan: 'L-1', amount: 50_000 }))
  await service.batch()
  t.same(await service.shown('pay_1'), ['suspense', 'events_disagree', null, null])
})

t.test('a payment that is posted again shows which events contradict it', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ loan: 'L-1' }))
  const stranger = eventA('order.paid', { id: 'pay_1', loan: 'L-1', amount: 500_000 })
  await service.batch()
  await service.webhook('gateway_a', stranger, { lender: 'LENDER_03' })
  await service.signed(refund())
  await service.batch()
  await service.signed(unmade)
  await service.batch()
  t.match(await service.decide('rfnd_1', 'restore'), { status: 200 })
  await service.batch()
  await service.batch()
  t.same(await service.shown('pay_1'), ['posted', null, 'events_disagree', null])
})

t.test('a restore lets a refund be booked that was more than what stood', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  await service.signed(refund())
  await service.batch()
  await service.signed(refund({ id: 'rfnd_2', paise: 40_000 }))
  await service.batch()
  t.same(await service.shown('rfnd_2'), ['suspense', 'refund', null, null])
  await service.signed(unmade)
  await service.batch()
  t.match(await service.decide('rfnd_1', 'restore'), { status: 200 })
  await service.batch()
  t.same(await service.standing(), { 'pay_1-r2': 600 })
})

/** An unsigned payment of a lender that takes these is posted, refunded as a whole, and put back once its lender wants proof. */
async function restoredUnder(t: Test, trust: object) {
  const gateways = await gatewaySandbox(t)
  const settings = (gateway_a: object) => ({
    ...gateways.settings,
    S: 'secret',
    LENDERS_FILE: lendersFile(t, { LENDER_02: { gateway_a } }),
  })
  const before = settings(AUTOMATIC)
  const service = withSigned(await paymentService(t, { ...before, ROLE: 'api' }))
  const start = (changes: NodeJS.ProcessEnv) =>
    startProcess('worker', testEnv(service.databaseUrl, service.ledger.url, changes))
  await service.loan('L-1')
  const first = start(before)
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), { lender: 'LENDER_02' })
  await service.batch()
  await service.signed(refund())
  await service.batch()
  t.same(await service.shown('pay_1'), ['returned', null, null, '1000'])
  await first.kill('SIGTERM')
  await expireLeases(service.db)
  const second = start(settings({ ...AUTOMATIC, ...trust }))
  t.teardown(() => second.kill('SIGKILL'))
  await service.signed(unmade)
  await service.batch()
  t.match(await service.decide('rfnd_1', 'restore'), { status: 200 })
  await service.batch()
  await service.batch()
  return service
}

t.test('a payment that its gateway does not have is not posted again, but decided', async t => {
  const service = await restoredUnder(t, { confirm: true })
  t.same(await service.shown('pay_1'), ['suspense', 'not_at_gateway', null, null])
  t.match(await service.decide('pay_1', 'dismiss'), { status: 200 })
})

t.test('an event that proves a payment lets it be posted again', async t => {
  const service = await restoredUnder(t, { validateSignature: true })
  t.same(await service.shown('pay_1'), ['suspense', 'signature_not_verified', null, null])
  await service.signed({ ...capturedA({ loan: 'L-1' }), created_at: 1_770_265_999 })
  await service.batch()
  t.same(await service.standing(), { 'pay_1-r2': 1000 })
})
