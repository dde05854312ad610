import t from 'tap'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { capturedA, eventA } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'

const INSIDE = { headers: { 'x-forwarded-for': '10.1.2.3' } }
const OUTSIDE = { headers: { 'x-forwarded-for': '8.8.8.8' } }

t.test('a loan that the ledger cannot read keeps no other payment from being settled', async t => {
  const gateway_a = { allowedCidrs: ['10.0.0.0/8'] }
  const LENDERS_FILE = lendersFile(t, { LENDER_02: { gateway_a } })
  const service = await paymentService(t, { LENDERS_FILE, TRUST_PROXY: '127.0.0.1' })
  const contradicted = async (id: string, loan: string) => {
    await service.loan(loan)
    await service.webhook('gateway_a', capturedA({ id, loan }), INSIDE)
    await service.webhook('gateway_a', eventA('order.paid', { id, loan, amount: 100 }), OUTSIDE)
  }
  await service.faults([
    { kind: 'error', status: 500, match: { on: 'reads', path: '/loans/external-id/L-1' } },
  ])
  await contradicted('pay_1', 'L-1')
  const first = await service.batch()
  t.match(first.last_error, /^lenders of loans: /)
  await contradicted('pay_2', 'L-2')
  await service.batch()
  const unsettled = { state: 'suspense', reason: 'events_disagree' }
  t.match((await service.payment('pay_1')).payment, unsettled)
  t.match((await service.payment('pay_2')).payment, { state: 'posted', amount: '1000' })

  await service.faults([])
  await service.batch()
  t.match((await service.payment('pay_1')).payment, { state: 'posted', amount: '1000' })
})
