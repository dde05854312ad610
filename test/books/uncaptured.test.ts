import t, { type Test } from 'tap'
import { fetchAll } from '../support/books/gateways.ts'
import { itemOfA, oddGateway } from '../support/books/odd-gateway.ts'
import { ALL_DAY } from '../support/books/reconciliation.ts'
import { capturedA, refundA } from '../support/payments/gateway-events.ts'
import { paymentService, SECRET, sendSigned } from '../support/payments/payments.ts'

const NEVER_CAPTURED = { status: 'refunded', captured: false, amount_refunded: 100_000 }

/** Gateway A with these payments, each refunded as `rfnd_` and its id. `asked`: the payments asked for one by one. */
async function withRefunded(t: Test, payments: Record<string, object>, changes = {}) {
  const items = Object.entries(payments).map(([id, more]) => itemOfA(id, more))
  const refunds = items.map(({ id }) => refundA({ id: `rfnd_${id}`, of: id }).payload.refund.entity)
  const asked: string[] = []
  const { settings } = await oddGateway(t, ({ path }) => {
    if (path === '/v1/payments') return { items }
    if (path === '/v1/refunds') return { items: refunds }
    const id = /^\/v1\/payments\/([^/]+)$/.exec(path)?.[1]
    if (id !== undefined) asked.push(id)
    return items.find(item => item.id === id)
  })
  const service = await paymentService(t, { ...settings, ...changes })
  await service.loan('L-1')
  const fetchAndPost = async () => {
    t.match(await fetchAll(service.call, 'gateway_a', ALL_DAY), { status: 'completed' })
    await service.batch()
  }
  const stateOf = async (id: string) => {
    const { payment } = await service.payment(id)
    return [payment.state, payment.reason]
  }
  return { service, asked, fetchAndPost, stateOf }
}

t.test('a refund that a fetch brings of a payment that was never captured is returned', async t => {
  const { service, fetchAndPost, stateOf } = await withRefunded(t, { pay_1: NEVER_CAPTURED })
  await fetchAndPost()
  t.same(await stateOf('rfnd_pay_1'), ['returned', null])
  const { payment } = await service.payment('rfnd_pay_1')
  t.match(payment, { external_loan_id: 'L-1' }, 'its payment names the loan')
})

t.test('a refund that was returned before a fetch brings it stays returned', async t => {
  const { service, fetchAndPost, stateOf } = await withRefunded(t, { pay_1: NEVER_CAPTURED })
  const webhook = refundA({ id: 'rfnd_pay_1', of: 'pay_1', payment: { payment: NEVER_CAPTURED } })
  await service.webhook('gateway_a', webhook, { lender: 'LENDER_02' })
  await service.batch()
  t.same(await stateOf('rfnd_pay_1'), ['returned', null])
  await fetchAndPost()
  t.same(await stateOf('rfnd_pay_1'), ['returned', null])
})

t.test('a fetch asks once for the payment of a refund, and never for a known one', async t => {
  const { service, asked, fetchAndPost, stateOf } = await withRefunded(
    t,
    { pay_1: NEVER_CAPTURED, pay_2: { amount_refunded: 100_000 } },
    { GATEWAY_A_WEBHOOK_SECRET: SECRET },
  )
  await sendSigned(service, capturedA({ id: 'pay_2', loan: 'L-1' }))
  await fetchAndPost()
  await fetchAndPost()
  t.same(asked, ['pay_1'])
  t.same(await stateOf('rfnd_pay_2'), ['suspense', 'refund'])
})
