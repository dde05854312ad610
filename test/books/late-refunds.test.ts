import t, { type Test } from 'tap'
import { withConfirm } from '../support/books/confirm.ts'
import { fetchAll, gatewaySandbox, PAID_AT } from '../support/books/gateways.ts'
import { itemOfA, listOfA, oddGateway } from '../support/books/odd-gateway.ts'
import { capturedA, refundA } from '../support/payments/gateway-events.ts'
import {
  type PaymentService,
  paymentService,
  SECRET,
  sendSigned,
} from '../support/payments/payments.ts'

const TEN_DAYS_LATER = '2026-02-15T04:30:00Z'
const HELD = ['suspense', 'refund']

async function withGateways(t: Test) {
  const gateways = await gatewaySandbox(t)
  const service = await paymentService(t, {
    ...gateways.settings,
    GATEWAY_A_WEBHOOK_SECRET: SECRET,
  })
  await service.loan('L-1')
  /** A payment, and a refund of it ten days later. */
  const refunded = async (gateway: string, id: string, amount: number, status = 'captured') => {
    const notes = { loan_id: 'L-1' }
    const payment = { gateway, id, amount: 100_000, created_at: PAID_AT, status, notes }
    await gateways.put('/payments', payment)
    await gateways.put('/refunds', { ...refundOf(gateway, id), amount })
  }
  const asked = async () =>
    (await gateways.calls()).filter(({ path }) => /payments\/.*refunds/.test(path)).length
  return { gateways, service, refunded, asked }
}

const refundOf = (gateway: string, paymentId: string) => ({
  gateway,
  paymentId,
  id: `refund_${paymentId}`,
  amount: 100_000,
  status: 'processed',
  created_at: TEN_DAYS_LATER,
})

async function fate(service: PaymentService, id: string, gateway = 'gateway_a') {
  const { payment } = await service.payment(id, gateway)
  return [payment.state, payment.reason]
}

t.test('a fetch of its day holds a payment that was refunded later, with its refund', async t => {
  const { service, refunded } = await withGateways(t)
  const all = [
    ['gateway_a', 'pay_whole', 100_000, 'refunded'],
    ['gateway_a', 'pay_part', 500, 'captured'],
  ] as const
  for (const [gateway, id, amount, status] of all) await refunded(gateway, id, amount, status)
  t.match(await fetchAll(service.call, 'gateway_a'), { status: 'completed', missed: 2 })
  await service.batch()
  for (const [gateway, id] of all) {
    t.same(await fate(service, id, gateway), HELD, id)
    t.same(await fate(service, `refund_${id}`, gateway), HELD, `the refund of ${id}`)
  }
  t.same(await service.repayments(), [])
})

t.test('a fetch of its day objects to a posted payment that was refunded later', async t => {
  const { service, refunded } = await withGateways(t)
  await refunded('gateway_a', 'pay_1', 500)
  await sendSigned(service, capturedA({ id: 'pay_1', loan: 'L-1' }))
  await service.batch()
  t.same(await fate(service, 'pay_1'), ['posted', null])
  t.match(await fetchAll(service.call, 'gateway_a'), { missed: 0 })
  await service.batch()
  t.match((await service.payment('pay_1')).payment, { state: 'posted', objection: 'refund' })
})

t.test('a fetch does not ask for the refunds that are known already', async t => {
  const { service, refunded, asked } = await withGateways(t)
  await refunded('gateway_a', 'pay_1', 100_000, 'refunded')
  await sendSigned(service, capturedA({ id: 'pay_1', loan: 'L-1' }))
  await sendSigned(service, refundA({ id: 'refund_pay_1' }))
  await service.batch()
  await fetchAll(service.call, 'gateway_a')
  t.equal(await asked(), 0)
})

t.test('a fetch asks for the refunds of a payment whose only known refund failed', async t => {
  const { service, gateways, refunded, asked } = await withGateways(t)
  await refunded('gateway_a', 'pay_1', 500)
  await gateways.put('/refunds', {
    ...refundOf('gateway_a', 'pay_1'),
    id: 'rfnd_1',
    status: 'failed',
  })
  await sendSigned(service, capturedA({ id: 'pay_1', loan: 'L-1' }))
  for (const status of ['processed', 'failed']) await sendSigned(service, refundA({ status }))
  await service.batch()
  await fetchAll(service.call, 'gateway_a')
  t.equal(await asked(), 1)
  await service.batch()
  t.same(await fate(service, 'refund_pay_1'), HELD)
})

t.test('refunds of a payment whose list does not end do not keep a fetch from ending', async t => {
  const list = listOfA(itemOfA('pay_1', { amount_refunded: 100 }))
  const items = Array.from({ length: 100 }, (_, n) => ({
    id: `rfnd_${n}`,
    payment_id: 'pay_1',
    amount: 1,
    currency: 'INR',
    status: 'processed',
    created_at: 1_771_129_800,
  }))
  const { settings } = await oddGateway(t, asked =>
    asked.path === '/v1/payments/pay_1/refunds' ? { items } : list(asked),
  )
  const service = await paymentService(t, settings)
  await service.loan('L-1')
  t.match(await fetchAll(service.call, 'gateway_a'), { status: 'completed', missed: 1 })
  await service.batch()
  t.same(await fate(service, 'pay_1'), HELD)
})

t.test('a payment that the gateway confirms is held by a refund that the gateway has', async t => {
  const { gateways, service, has, stateOf } = await withConfirm(t)
  await has('gateway_a', 'pay_1')
  await gateways.put('/refunds', { ...refundOf('gateway_a', 'pay_1'), amount: 500 })
  await service.webhook('gateway_a', capturedA({ loan: 'L-6' }), { lender: 'LENDER_06' })
  await service.batch()
  t.same(await stateOf('pay_1', 'gateway_a'), [...HELD, null])
  t.same(await stateOf('refund_pay_1', 'gateway_a'), [...HELD, null])
  t.same(await service.repayments(), [])
})
