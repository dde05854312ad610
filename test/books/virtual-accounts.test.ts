import t, { type Test } from 'tap'
import { fetchAll } from '../support/books/gateways.ts'
import { itemOfA, oddGateway } from '../support/books/odd-gateway.ts'
import { ALL_DAY } from '../support/books/reconciliation.ts'
import { lendersFile } from '../support/config/lenders-file.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { paymentService, SECRET, sendSigned } from '../support/payments/payments.ts'

/** Gateway A's API has one transfer into the account va_1, which a reference gives to L-1. */
async function withTransfer(test: Test, changes: NodeJS.ProcessEnv = {}) {
  const item = itemOfA('pay_1', { method: 'bank_transfer', notes: [] })
  const answers: Record<string, object> = {
    '/v1/payments': { items: [item] },
    '/v1/payments/pay_1': item,
    '/v1/payments/pay_1/bank_transfer': {
      entity: 'bank_transfer',
      payment_id: 'pay_1',
      virtual_account_id: 'va_1',
    },
  }
  const { settings } = await oddGateway(test, ({ path }) => answers[path])
  const service = await paymentService(test, { ...settings, ...changes })
  await service.loan('L-1')
  const path = '/api/references/gateway_a/virtual_account/va_1'
  await service.call('PUT', path, { external_loan_id: 'L-1' })
  return service
}

const POSTED = { state: 'posted', external_loan_id: 'L-1', matched_by: 'virtual_account' }

t.test('a fetched transfer finds its loan by the virtual account that it came into', async t => {
  const service = await withTransfer(t)
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  await service.batch()
  t.match((await service.payment('pay_1')).payment, POSTED)
})

t.test('a confirmed transfer finds its loan by the virtual account too', async t => {
  const LENDERS_FILE = lendersFile(t, {
    LENDER_02: { gateway_a: { confirm: true, validateSignature: false } },
  })
  const service = await withTransfer(t, { LENDERS_FILE })
  await service.webhook('gateway_a', capturedA({ id: 'pay_1' }), { lender: 'LENDER_02' })
  await service.batch()
  t.match((await service.payment('pay_1')).payment, POSTED)
})

t.test('a fetched transfer, even by UPI, has the names of its virtual account', async t => {
  const transfer = (name: string, virtual_account: object) => ({
    entity: name,
    virtual_account_id: 'va_9',
    virtual_account: { id: 'va_9', entity: 'virtual_account', ...virtual_account },
  })
  const byBank = itemOfA('pay_bank', { method: 'bank_transfer', notes: [] })
  const byUpi = itemOfA('pay_upi', { method: 'upi', notes: [] })
  const answers: Record<string, object> = {
    '/v1/payments': { items: [byBank, byUpi] },
    '/v1/payments/pay_bank/bank_transfer': transfer('bank_transfer', { notes: { loan_id: 'L-1' } }),
    '/v1/payments/pay_upi/upi_transfer': transfer('upi_transfer', {
      notes: [],
      receivers: [{ entity: 'vpa', address: 'rpy.payto1@icici' }],
    }),
  }
  const { settings } = await oddGateway(t, ({ path }) => answers[path])
  const service = await paymentService(t, settings)
  await service.loan('L-1')
  const path = '/api/references/gateway_a/virtual_account/rpy.payto1@icici'
  await service.call('PUT', path, { external_loan_id: 'L-1' })
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  await service.batch()
  const { payment } = await service.payment('pay_bank')
  t.match(payment, { ...POSTED, matched_by: 'notes' })
  t.match((await service.payment('pay_upi')).payment, POSTED)
})

t.test('a payment whose webhook names no loan is asked for once by a fetch', async t => {
  let asked = 0
  const { settings } = await oddGateway(t, ({ path }) => {
    if (path === '/v1/payments')
      return {
        items: ['1', '2'].map(id => itemOfA(`pay_${id}`, { notes: [], order_id: `order_${id}` })),
      }
    if (path === '/v1/orders/order_2') asked++
    return path === '/v1/orders/order_1' ? { id: 'order_1', notes: { loan_id: 'L-1' } } : undefined
  })
  const service = await paymentService(t, { ...settings, GATEWAY_A_WEBHOOK_SECRET: SECRET })
  await service.loan('L-1')
  for (const id of ['pay_1', 'pay_2']) await sendSigned(service, capturedA({ id }))
  await service.batch()
  for (const n of ['first', 'second']) {
    t.match(await fetchAll(service.call, 'gateway_a', ALL_DAY), { missed: 0 }, n)
    await service.batch()
    t.match((await service.payment('pay_1')).payment, { ...POSTED, matched_by: 'notes' })
    t.match((await service.payment('pay_2')).payment, { reason: 'no_loan_named' })
    t.equal(asked, 1, n)
  }
})
