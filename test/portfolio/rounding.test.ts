import t from 'tap'
import { control } from '../support/ledger/loans.ts'
import { matchEach } from '../support/match-each.ts'
import { paymentService } from '../support/payments/payments.ts'
import { errorsOf, migrateCsv } from '../support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'

t.test('an amount with more decimals than the loan’s currency fails its row', async t => {
  const rounding = { product: 2, decimalPlaces: 0, inMultiplesOf: 0 }
  const service = await paymentService(
    t,
    {},
    { atLedger: sandbox => control(sandbox, 'PUT', '/rounding', rounding) },
  )

  t.test('a dry run of loans refuses an amount with too many decimals', async t => {
    const { dry_run } = await migrateCsv(service, 'loans', loans('A'), { dry_run: true })
    t.match(dry_run, { would_change: 1, refused: 2 })
    matchEach(t, dry_run.findings, [
      { line: 3, finding: 'refused', reason: /would round 1200\.5 INR/ },
      { line: 4, finding: 'refused', reason: /would round 1000\.5 INR/ },
    ])
  })

  t.test('a run of loans fails an amount with too many decimals', async t => {
    t.match(await migrateCsv(service, 'loans', loans('B')), { done: 1, failed: 2 })
  })

  t.test('a dry run of repayments refuses an amount with too many decimals', async t => {
    await service.loan('C')
    const { dry_run } = await migrateCsv(service, 'repayments', repayments('C'), { dry_run: true })
    t.match(dry_run, { would_change: 1, refused: 1 })
    matchEach(t, dry_run.findings, [{ line: 3, reason: /would round 100\.50 INR/ }])
  })

  t.test('a run of repayments fails an amount with too many decimals', async t => {
    await service.loan('D')
    const run = await migrateCsv(service, 'repayments', repayments('D'))
    t.match(run, { done: 1, failed: 1 })
    t.match(await errorsOf(service, run.migration_id), /would round 100\.50 INR/)
    t.same(
      (await service.repayments()).map(({ amount }) => amount),
      ['100.00'],
    )
  })
})

function loans(prefix: string): string {
  const loan = (n: number, cells = {}) => {
    const id = `${prefix}-${n}`
    return { loan_external_id: id, client_external_id: id, ...cells }
  }
  return loansCsv(
    loan(1),
    loan(2, { principal: '1200.50' }),
    loan(3, { disbursed_amount: '1000.50' }),
  )
}

/** The loan is not read again for its second row. */
function repayments(loan_external_id: string): string {
  return repaymentsCsv(
    {
      loan_external_id,
      payment_reference: `${loan_external_id}-1`,
      amount: '100',
      gateway: 'gateway_a',
    },
    {
      loan_external_id,
      payment_reference: `${loan_external_id}-2`,
      amount: '100.50',
      transaction_date: '2024-02-13',
    },
  )
}
