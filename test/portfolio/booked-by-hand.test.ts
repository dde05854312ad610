import t from 'tap'
import { startProxy } from '../support/ledger/proxy.ts'
import { withLedger } from '../support/payments/payments.ts'
import { ended, startCsv } from '../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('a row that a person books by hand while its call runs is not booked twice', async t => {
  const proxy = await startProxy(t)
  const limits = { LEDGER_URL: proxy.url, LEDGER_TIMEOUT_MS: '500' }
  const service = withLedger(await startTestService(t, limits))
  proxy.target = service.ledger.url
  await service.loan('L-1')
  const late = Promise.withResolvers<void>()
  proxy.interferences = [{ of: 'p-1', on: 'writes', after: late.promise, times: 1 }]
  const migration_id = await startCsv(service, 'repayments', repaymentsCsv({}))
  await until(async () => proxy.held === 1, 'its call runs')
  await service.bookAt('L-1', 100.5, {
    transactionDate: '2024-02-12',
    receiptNumber: 'p-1',
    paymentTypeId: 1,
  })
  t.match(await ended(service, migration_id), { status: 'completed', done: 1 })
  late.resolve()
  await until(async () => proxy.underWay === 0, 'its call has arrived')
  const { transactions } = await service.books()
  t.equal(transactions.filter(({ type }) => type === 'repayment').length, 1)
})
