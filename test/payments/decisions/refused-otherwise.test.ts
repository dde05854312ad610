import t, { type Test } from 'tap'
import { ledgerBody, startProxy } from '../../support/ledger/proxy.ts'
import { capturedA, PAID_AT_ISO, successB } from '../../support/payments/gateway-events.ts'
import { LENDER, paymentService } from '../../support/payments/payments.ts'
import { migrateCsv } from '../../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../../support/portfolio/rows.ts'

const UTR = '401795959317'
const HELD = { state: 'suspense', reason: 'ledger_refused' }

/** The loan L-1, of which the ledger refuses the next write by a rule of its own. */
async function refusing(t: Test) {
  const proxy = await startProxy(t)
  const service = await paymentService(t, { LEDGER_URL: proxy.url })
  proxy.target = service.ledger.url
  await service.loan('L-1')
  const body = ledgerBody(403, 'error.msg.loan.transaction.of.another.rule')
  proxy.interferences = [{ of: 'L-1', on: 'writes', status: 403, body, times: 1 }]
  return {
    ...service,
    standing: async () =>
      (await service.books()).transactions.filter(one => one.type === 'repayment' && !one.reversed)
        .length,
  }
}

t.test('a payment that was refused otherwise is held if its twin was posted meanwhile', async t => {
  const service = await refusing(t)
  await service.call('PUT', '/api/references/gateway_b/virtual_account/ACC1', {
    external_loan_id: 'L-1',
  })
  const credit: any = successB({ id: 51, loan: 'L-1' })
  credit.data.payment.payment_method = { vba_transfer: { vaccount_id: 'ACC1', utr: UTR } }
  await service.webhook('gateway_b', credit, LENDER)
  t.match(await service.batch(), { suspended: 1 })
  await service.db
    .updateTable('core.transaction')
    .set({ next_try_at: new Date('2099-01-01') })
    .execute()
  const collected = {
    event: 'AMOUNT_COLLECTED',
    referenceId: 1,
    amount: '1000.00',
    paymentTime: PAID_AT_ISO,
    vAccountId: 'ACC1',
    utr: UTR,
  }
  await service.webhook('gateway_b', collected, LENDER)
  t.match(await service.batch(), { posted: 1 })
  for (const posted of [0, 1]) {
    t.equal((await service.assign('51', 'L-1', 'gateway_b')).status, 200)
    t.match(await service.batch(), { posted }, 'an operator who was told may say otherwise')
    if (posted === 0)
      t.match((await service.payment('51', 'gateway_b')).payment, {
        ...HELD,
        detail: /same money as payment 1,/,
      })
  }
})

t.test('a payment that was refused otherwise is held if a file booked it meanwhile', async t => {
  const service = await refusing(t)
  const paid = { id: 'pay_1', loan: 'L-1', payment: { acquirer_data: { rrn: UTR } } }
  await service.webhook('gateway_a', capturedA(paid), LENDER)
  t.match(await service.batch(), { suspended: 1 })
  const row = {
    payment_reference: UTR,
    amount: '1000.00',
    transaction_date: PAID_AT_ISO.slice(0, 10),
  }
  t.match(await migrateCsv(service, 'repayments', repaymentsCsv(row)), { done: 1 })
  t.equal((await service.assign('pay_1', 'L-1')).status, 200)
  t.match(await service.batch(), { posted: 0 })
  t.match((await service.payment('pay_1')).payment, { ...HELD, detail: /bank reference/ })
  t.equal(await service.standing(), 1)
})
