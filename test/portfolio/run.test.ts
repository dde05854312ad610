import { sql } from 'kysely'
import t from 'tap'
import { booksAt } from '../support/ledger/ledger-driver.ts'
import { ended, errorsOf, migrateCsv, rowsOf } from '../support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** All tests share this service: each has clients and loans of its own. */
const service = await startTestService(t)

t.test('a run takes a loan as far as its dates go, and creates its client once', async t => {
  const { ledger } = service
  const client = { client_external_id: 'A', client_mobile_no: '+911' }
  const done = await migrateCsv(
    service,
    'loans',
    loansCsv(
      { ...client, loan_external_id: 'A-1', disbursed_amount: '1000' },
      { ...client, loan_external_id: 'A-2', disbursed_on_date: '' },
      { ...client, loan_external_id: 'A-3', disbursed_on_date: '', approved_on_date: '' },
    ),
  )
  t.match(done, { status: 'completed', rows: 3, valid_rows: 3, done: 3, failed: 0, stopped: 0 })
  t.ok(done.started_at < done.ended_at)
  t.ok(done.rate_per_second > 0)
  t.match(await loanIn(service, 'A-1'), {
    status: 300,
    principal: '1000.00',
    clientExternalId: 'A',
  })
  t.match(await loanIn(service, 'A-2'), { status: 200, approvedOn: '2024-01-11' })
  t.match(await loanIn(service, 'A-3'), { status: 100, submittedOn: '2024-01-10' })
  const { clients } = await booksAt(ledger.controlUrl)
  t.equal(clients.filter((one: any) => one.externalId === 'A').length, 1)
})

t.test(
  'a row that the ledger refuses stops its loan but not the migration, and a retry processes both',
  async t => {
    const { call, ledger } = service
    await migrateCsv(
      service,
      'loans',
      loansCsv(...['B-1', 'B-2'].map(id => ({ client_external_id: 'B', loan_external_id: id }))),
    )
    const csv = repaymentsCsv(
      { loan_external_id: 'B-1', payment_reference: '3', transaction_date: '2024-04-12' },
      // Refused, because it is in the future.
      { loan_external_id: 'B-1', payment_reference: '4', transaction_date: '2099-01-01' },
      { loan_external_id: 'B-1', payment_reference: '5', transaction_date: '2099-02-01' },
      { loan_external_id: 'B-2', payment_reference: '1' },
      { loan_external_id: 'B-9', payment_reference: '1' },
    )
    const run = await migrateCsv(service, 'repayments', csv)
    t.match(run, { status: 'completed', done: 2, failed: 2, stopped: 1 })
    const rows = await rowsOf(service, run.migration_id)
    t.same(
      rows.map(({ state }: any) => state),
      ['done', 'failed', 'stopped', 'done', 'failed'],
    )
    t.match(rows[1].reason, /The ledger refused with status 40\d: .*future/)
    t.match(rows[2].reason, 'not tried, because line 3 of the same loan failed')
    t.match(rows[4].reason, /404/)
    t.match(await errorsOf(service, run.migration_id), /B-1,2099-01-01,100.50,4,,,/)

    await fetch(`${ledger.controlUrl}/business-date`, {
      method: 'PUT',
      body: '{"date":"2099-03-01"}',
    })
    await migrateCsv(
      service,
      'loans',
      loansCsv({ client_external_id: 'B', loan_external_id: 'B-9' }),
    )
    t.equal((await call('POST', `/api/migration/${run.migration_id}/retry`)).status, 202)
    t.match(await ended(service, run.migration_id), { done: 5, failed: 0, stopped: 0 })
    const { transactions } = await booksAt(ledger.controlUrl)
    t.equal(
      transactions.filter((one: any) => one.type === 'repayment' && /^B-/.test(one.loanExternalId))
        .length,
      5,
    )
    await fetch(`${ledger.controlUrl}/business-date`, { method: 'PUT', body: '{"date":null}' })
  },
)

t.test('a client that the ledger refuses fails its loans before any of them is tried', async t => {
  const client = {
    client_external_id: 'K',
    client_activation_date: '2098-01-01',
    submitted_on_date: '2098-01-02',
    approved_on_date: '',
    disbursed_on_date: '',
  }
  const run = await migrateCsv(
    service,
    'loans',
    loansCsv({ ...client, loan_external_id: 'K-1' }, { ...client, loan_external_id: 'K-2' }),
  )
  t.match(run, { status: 'completed', done: 0, failed: 2, stopped: 0 })
  const rows = await rowsOf(service, run.migration_id)
  t.match(rows[0].reason, /future/)
  t.match(rows[1].reason, /^its client: The ledger refused/)
  const { count } = (
    await sql<{ count: number }>`
    select count(*)::integer as count from loanops.operation
     where external_id in ('K-1', 'K-2')`.execute(service.db)
  ).rows[0] as { count: number }
  t.equal(count, 0)
})

t.test(
  'a row that the ledger already has is done if it is equal, and otherwise fails with the difference',
  async t => {
    const { ledger } = service
    const row = { client_external_id: 'D', loan_external_id: 'D-1' }
    await migrateCsv(
      service,
      'loans',
      loansCsv(row, { ...row, loan_external_id: 'D-2', disbursed_on_date: '' }),
    )
    await migrateCsv(service, 'repayments', repaymentsCsv({ loan_external_id: 'D-1' }))

    const before = await booksAt(ledger.controlUrl)
    const loans = await migrateCsv(
      service,
      'loans',
      loansCsv(
        row,
        { ...row, loan_external_id: 'D-2', principal: '1300' },
        { ...row, client_external_id: 'D2', loan_external_id: 'D-3' },
      ),
    )
    t.match(loans, { done: 2, failed: 1 })
    const [same, differing] = await rowsOf(service, loans.migration_id)
    t.match(same, { state: 'done', reason: null })
    t.match(
      differing.reason,
      /It is already in the ledger, but different: principal is 1200 there, not 1300/,
    )
    t.same((await loanIn(service, 'D-2'))?.status, 200, 'it is not disbursed')

    const other = await migrateCsv(
      service,
      'repayments',
      repaymentsCsv({ loan_external_id: 'D-1', amount: '7' }),
    )
    t.match((await rowsOf(service, other.migration_id))[0].reason, /amount is 100.5 there, not 7/)
    const usha = await migrateCsv(service, 'loans', loansCsv({ ...row, client_firstname: 'Usha' }))
    t.match(
      (await rowsOf(service, usha.migration_id))[0].reason,
      /firstname is Asha there, not Usha/,
    )
    t.equal(
      (await booksAt(ledger.controlUrl)).transactions.length,
      before.transactions.length + 2,
      'only the disbursement of D-3',
    )
  },
)

async function loanIn({ ledger }: TestService, id: string) {
  const { loans } = await booksAt(ledger.controlUrl)
  return loans.find(loan => loan.externalId === id)
}
