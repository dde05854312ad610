import t from 'tap'
import { fetchAll } from '../support/books/gateways.ts'
import { listOfB, oddGateway, rowOfB } from '../support/books/odd-gateway.ts'
import { ALL_DAY, filled, reconciliation } from '../support/books/reconciliation.ts'
import { paymentService } from '../support/payments/payments.ts'

/** A transfer in gateway B's older format, under an id of its own. */
const collected = (id: number, utr: string) => ({
  event: 'AMOUNT_COLLECTED',
  referenceId: id,
  amount: '1000.00',
  paymentTime: '2026-02-05 10:00:00',
  vAccountId: 'VA1',
  utr,
})

/** The same in the report of today. */
function reported(id: string, bank_reference: string) {
  const row = rowOfB(id, { payment: { bank_reference } })
  return { ...row, order_details: { order_id: `order-${id}`, order_tags: null } }
}

t.test(
  'a transfer that was posted under its other id balances once the second is dismissed',
  async t => {
    // The bank’s reference may be in other capitals.
    const rows = [reported('11', 'n1'), reported('12', 'N2'), reported('13', 'N2')]
    const { settings } = await oddGateway(t, listOfB(...rows))
    const service = await paymentService(t, settings)
    await service.loan('L-1')
    await service.call('PUT', '/api/references/gateway_b/virtual_account/VA1', {
      external_loan_id: 'L-1',
    })
    for (const event of [collected(1, 'N1'), collected(2, 'N2')])
      await service.webhook('gateway_b', event, { lender: 'LENDER_02' })
    await service.batch()
    await fetchAll(service.call, 'gateway_b', ALL_DAY)
    await service.batch()
    const days = async () =>
      (await reconciliation(service.call)).days.map((day: any) => [day.lender, filled(day)])
    t.same(await days(), [
      ['LENDER_02', { not_at_gateway: '2 2000.00' }],
      ['UNKNOWN', { suspense: '3 3000.00' }],
    ])
    const dismiss = (id: string) =>
      service.call('POST', `/api/payments/gateway_b/${id}/resolve`, {
        outcome: 'dismiss',
        note: 'posted under its other id',
      })
    for (const id of ['11', '12', '13']) t.equal((await dismiss(id)).status, 200)
    t.same(
      await days(),
      [
        ['LENDER_02', { unchecked: '2 2000.00' }],
        ['UNKNOWN', { dismissed: '1 1000.00' }],
      ],
      'a posted payment stands for one other only',
    )
  },
)
