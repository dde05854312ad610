import t, { type Test } from 'tap'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'

const CHECKS = { gateway_a: { posting: 'review', allowedCidrs: ['10.0.0.0/8'] } }

/** A loan of the ledger's product LENDER_02. */
async function withProducts(t: Test, product: string | string[], checks: object = CHECKS) {
  const LENDERS_FILE = lendersFile(t, { LENDER_02: { product, ...checks } })
  const service = await paymentService(t, { LENDERS_FILE })
  await service.loan('L-1')
  return service
}

t.test('a payment for a loan whose product no lender has is posted by operators only', async t => {
  const service = await withProducts(t, 'RENAMED')
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }))
  await service.batch()
  t.match(await service.payment('pay_1'), {
    payment: {
      state: 'suspense',
      reason: 'lender_mismatch',
      detail: /the loan’s product LENDER_02/,
    },
  })
  await service.assign('pay_1', 'L-1')
  t.match(await service.batch(), { posted: 1 })
})

t.test('the checks of a lender with several products apply to the loans of each', async t => {
  const service = await withProducts(t, ['NEW', 'LENDER_02'], {
    gateway_a: { posting: 'review', allowedCidrs: ['127.0.0.0/8'] },
  })
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), { lender: 'LENDER_02' })
  await service.batch()
  t.match(await service.payment('pay_1'), {
    payment: { state: 'suspense', reason: 'awaiting_review' },
  })
})
