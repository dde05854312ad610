import t, { type Test } from 'tap'
import { AROUND, fetchAll, gatewaySandbox, PAID_AT } from '../support/books/gateways.ts'
import { capturedA, refundA } from '../support/payments/gateway-events.ts'
import { paymentService, sendSigned } from '../support/payments/payments.ts'

const SECRET = 'secret'
const LENDER = { lender: 'LENDER_02' }
const HELD = ['suspense refund', 'suspense refund']
const RELEASED = ['posted ', 'failed ']

/** A captured payment, and a refund of it that the gateway's API reports as failed. `fates`: after a batch. */
async function withFailedRefund(t: Test) {
  const gateways = await gatewaySandbox(t)
  const service = await paymentService(t, {
    ...gateways.settings,
    GATEWAY_A_WEBHOOK_SECRET: SECRET,
  })
  await service.loan('L-1')
  const here = { gateway: 'gateway_a', amount: 100_000, created_at: PAID_AT }
  await gateways.put('/payments', { ...here, id: 'pay_1', notes: { loan_id: 'L-1' } })
  await gateways.put('/refunds', { ...here, id: 'rfnd_1', paymentId: 'pay_1', status: 'failed' })
  const fates = async () => {
    await service.batch()
    const both = [await service.payment('pay_1'), await service.payment('rfnd_1')]
    return both.map(({ payment: { state, reason } }) => `${state} ${reason ?? ''}`)
  }
  return {
    send: async (...events: object[]) => {
      for (const event of events) await sendSigned(service, SECRET, event)
    },
    fetch: () => fetchAll(service.call, 'gateway_a', { ...AROUND, ...LENDER }),
    fates,
  }
}

t.test(
  'a refund that was made and then failed releases its payment once the gateway’s API says so',
  async t => {
    const { send, fetch, fates } = await withFailedRefund(t)
    await send(capturedA({ loan: 'L-1' }), refundA(), refundA({ status: 'failed' }))
    t.same(await fates(), HELD, 'webhooks come in any order')
    await fetch()
    t.same(await fates(), RELEASED)
  },
)

t.test(
  'a refund that is reported as made after the gateway’s API said otherwise holds its payment',
  async t => {
    const { send, fetch, fates } = await withFailedRefund(t)
    await fetch()
    await send(refundA())
    t.same(await fates(), HELD)
  },
)
