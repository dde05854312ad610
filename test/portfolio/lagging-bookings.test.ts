import t from 'tap'
import { startProxy } from '../support/ledger/proxy.ts'
import { capturedA, PAID_AT_ISO } from '../support/payments/gateway-events.ts'
import { LENDER, paymentService } from '../support/payments/payments.ts'
import { migrateCsv } from '../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'

const READ = '/loans/external-id/L-1?associations=transactions'

for (const isFileFirst of [true, false])
  t.test(
    `a payment is booked once, though a read lags: the file ${isFileFirst ? 'first' : 'second'}`,
    async t => {
      const proxy = await startProxy(t)
      const service = await paymentService(t, { LEDGER_URL: proxy.url })
      proxy.target = service.ledger.url
      await service.loan('L-1')
      const before = (await service.ledgerCall('GET', READ)).body
      const row = {
        payment_reference: 'pay_1',
        amount: '1000.00',
        transaction_date: PAID_AT_ISO.slice(0, 10),
      }
      const steps = [
        () => migrateCsv(service, 'repayments', repaymentsCsv(row)),
        async () => {
          await service.webhook('gateway_a', capturedA({ id: 'pay_1', loan: 'L-1' }), LENDER)
          await service.batch()
          await service.ended('pay_1')
        },
      ]
      const [first, second] = isFileFirst ? steps : steps.toReversed()
      await first?.()
      proxy.interferences = [{ of: READ, on: 'reads', status: 200, body: before, times: 1 }]
      await second?.()
      const { transactions } = await service.books()
      t.equal(transactions.filter(one => one.type === 'repayment').length, 1)
      t.match((await service.payment('pay_1')).payment, { state: 'posted' })
    },
  )
