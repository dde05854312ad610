import t from 'tap'
import { control } from '../support/loans.ts'
import { matchEach } from '../support/match-each.ts'
import { errorsOf, migrateCsv } from '../support/migrate.ts'
import { paymentService } from '../support/payments.ts'
import { loansCsv, repaymentsCsv } from '../support/rows.ts'

t.test('an amount with more decimals than the loan’s currency fails its row', async t => {
  const service = await paymentService(t)
  await control(service, 'PUT', '/rounding', { product: 2, decimalPlaces: 0, inMultiplesOf: 0 })
  const loan = (id: string, cells = {}) => ({
    loan_external_id: id,
    client_external_id: id,
    ...cells,
  })
  const csv = loansCsv(
    loan('L-1'),
    loan('L-2', { principal: '1200.50' }),
    loan('L-3', { disbursed_amount: '1000.50' }),
  )

  t.test('in a dry run of loans', async t => {
    const { dry_run } = await migrateCsv(service, 'loans', csv, { dry_run: true })
    t.match(dry_run, { would_change: 1, refused: 2 })
    matchEach(t, dry_run.findings, [
      { line: 3, finding: 'refused', reason: /would round 1200\.5 INR/ },
      { line: 4, finding: 'refused', reason: /would round 1000\.5 INR/ },
    ])
  })

  t.test('in a run of loans', async t => {
    t.match(await migrateCsv(service, 'loans', csv), { done: 1, failed: 2 })
  })

  // The loan is not read again for its second row.
  const repayments = repaymentsCsv(
    { payment_reference: 'p-1', amount: '100', gateway: 'gateway_a' },
    { payment_reference: 'p-2', amount: '100.50', transaction_date: '2024-02-13' },
  )
  t.test('in a dry run of repayments', async t => {
    const { dry_run } = await migrateCsv(service, 'repayments', repayments, { dry_run: true })
    t.match(dry_run, { would_change: 1, refused: 1 })
    matchEach(t, dry_run.findings, [{ line: 3, reason: /would round 100\.50 INR/ }])
  })

  t.test('in a run of repayments', async t => {
    const run = await migrateCsv(service, 'repayments', repayments)
    t.match(run, { done: 1, failed: 1 })
    t.match(await errorsOf(service, run.migration_id), /would round 100\.50 INR/)
    t.same(
      (await service.repayments()).map(({ amount }) => amount),
      ['100.00'],
    )
  })
})
