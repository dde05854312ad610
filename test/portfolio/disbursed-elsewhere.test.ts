import t from 'tap'
import { control } from '../support/ledger/loans.ts'
import { disburse, withLedger } from '../support/payments/payments.ts'
import { migrateCsv } from '../support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { operate, startTestService } from '../support/service.ts'

/** The tests whose loans have ids of their own share this service. */
const service = await startTestService(t)

t.test('a loan that an operation disbursed accepts the repayments of a file', async t => {
  await migrateCsv(
    service,
    'loans',
    loansCsv({ client_external_id: 'I', loan_external_id: 'I-1', disbursed_on_date: '' }),
  )
  await operate(service.call, 'LOAN_DISBURSE', {
    external_loan_id: 'I-1',
    actualDisbursementDate: '12 January 2024',
  })
  t.match(await migrateCsv(service, 'repayments', repaymentsCsv({ loan_external_id: 'I-1' })), {
    done: 1,
  })
})

t.test('a loan that was disbursed at the ledger itself accepts a file’s repayments', async t => {
  const approved = { loan_external_id: 'J-1', client_external_id: 'J', disbursed_on_date: '' }
  await migrateCsv(service, 'loans', loansCsv(approved))
  const csv = repaymentsCsv({ loan_external_id: 'J-1' })
  const { dry_run } = await migrateCsv(service, 'repayments', csv, { dry_run: true })
  t.match(dry_run, { refused: 1, findings: [{ reason: 'the loan is not disbursed: Approved' }] })
  await disburse(withLedger(service), 'J-1')
  t.match(await migrateCsv(service, 'repayments', csv), { invalid_rows: 0, done: 1 })
})

t.test('a loans file that is run again sends no second disbursement', async t => {
  const service = await startTestService(t)
  await migrateCsv(service, 'loans', loansCsv({}))
  t.match(await migrateCsv(service, 'loans', loansCsv({})), { done: 1, failed: 0 })
  const later = { disbursed_on_date: '13 January 2024' }
  t.match(await migrateCsv(service, 'loans', loansCsv(later)), { done: 0, failed: 1 })
  // On a product with several tranches the ledger would accept it.
  const { calls } = await control(service, 'GET', '/counters')
  t.equal(calls['DISBURSE/LOAN'], 1)
})
