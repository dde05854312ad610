import t from 'tap'
import { matchEach } from '../support/match-each.ts'
import { migrateCsv, uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'

t.test('a dry run counts the loans that a file listed in `after` would create', async t => {
  const service = await startTestService(t)
  const loan = (id: string, cells = {}) => ({
    loan_external_id: id,
    client_external_id: id,
    ...cells,
  })
  const there = loan('DIFFERS', { principal: '1300.00', disbursed_on_date: '' })
  await migrateCsv(service, 'loans', loansCsv(there))
  const loans = await migrateCsv(
    service,
    'loans',
    loansCsv(
      loan('NEW'),
      loan('LATER', { disbursed_on_date: '2024-03-01' }),
      loan('APPROVED', { disbursed_on_date: '' }),
      loan('INVALID', { principal: 'x' }),
      loan('DIFFERS'),
    ),
    { dry_run: true, skip_invalid: true },
  )
  t.match(loans.dry_run, { would_change: 3, differs: 1 })
  const of = (...ids: string[]) => repaymentsCsv(...ids.map(id => ({ loan_external_id: id })))
  const csv = of('NEW', 'LATER', 'APPROVED', 'INVALID', 'DIFFERS')
  const { dry_run } = await migrateCsv(service, 'repayments', csv, {
    dry_run: true,
    after: [loans.migration_id],
  })
  t.match(dry_run, { would_change: 1, refused: 4 })
  matchEach(t, dry_run.findings, [
    { line: 3, reason: 'the loan was disbursed later, on 01 March 2024' },
    { line: 4, reason: 'its loans file does not disburse the loan' },
    { line: 5, reason: 'the ledger has no such loan' },
    { line: 6, reason: 'the loan is not disbursed: Approved' },
  ])
  const unnamed = await migrateCsv(service, 'repayments', of('NEW'), { dry_run: true })
  t.match(unnamed.dry_run, { refused: 1 }, 'without `after`, the file does not count')
})

t.test('a dry run is refused before the dry run of a file listed in `after`', async t => {
  const { call, url } = await startTestService(t, { ROLE: 'api' })
  const [loans, repayments] = [
    (await uploadCsv({ url }, 'loans', loansCsv({}))).body.migration_id,
    (await uploadCsv({ url }, 'repayments', repaymentsCsv({}))).body.migration_id,
  ]
  const run = { migration_id: repayments, dry_run: true, after: [loans] }
  t.match(await call('POST', '/api/migration/run', run), {
    status: 409,
    body: { detail: `Start a dry run of migration ${loans} first` },
  })
})

t.test('a run that lists files in `after` is refused, as it would not wait for them', async t => {
  const { call, url } = await startTestService(t, { ROLE: 'api' })
  const { migration_id } = (await uploadCsv({ url }, 'repayments', repaymentsCsv({}))).body
  const run = (after: string[]) => call('POST', '/api/migration/run', { migration_id, after })
  const message = 'is only for a dry run: a run starts at once'
  t.match(await run([migration_id]), {
    status: 400,
    body: { errors: [{ path: '/after', message }] },
  })
  t.match((await call('GET', `/api/migration/${migration_id}`)).body, { status: 'uploaded' })
  t.equal((await run([])).status, 202, 'an empty list names none')
})
