import { sql } from 'kysely'
import t from 'tap'
import { booksOf } from '../support/books.ts'
import { ended, errorsOf, migrateCsv, uploadCsv } from '../support/migrate.ts'
import { disburse, withLedger } from '../support/payments.ts'
import { loansCsv, repaymentsCsv } from '../support/rows.ts'
import { operate, startTestService, type TestService } from '../support/service.ts'

const rowsOf = async ({ db }: TestService, id: string) =>
  (
    await sql<any>`select line, state, reason, finding, finding_reason from ops.migration_row
       where migration_id = ${id} order by line`.execute(db)
  ).rows

t.test('a run', async t => {
  const service = await startTestService(t, { LEDGER_CONCURRENCY: '8' })
  const { call, ledger } = service
  const loanIn = async (id: string) =>
    (await booksOf(ledger.controlUrl)).loans.find((loan: any) => loan.externalId === id)

  t.test('takes a loan as far as its dates go, and makes its client once', async t => {
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
    t.match(await loanIn('A-1'), { status: 300, principal: '1000.00', clientExternalId: 'A' })
    t.match(await loanIn('A-2'), { status: 200, approvedOn: '2024-01-11' })
    t.match(await loanIn('A-3'), { status: 100, submittedOn: '2024-01-10' })
    const { clients } = await booksOf(ledger.controlUrl)
    t.equal(clients.filter((one: any) => one.externalId === 'A').length, 1)
  })

  t.test(
    'a row that the ledger refuses stops its loan, not the migration; retry takes both up',
    async t => {
      await migrateCsv(
        service,
        'loans',
        loansCsv(...['B-1', 'B-2'].map(id => ({ client_external_id: 'B', loan_external_id: id }))),
      )
      const csv = repaymentsCsv(
        { loan_external_id: 'B-1', payment_reference: '3', transaction_date: '2024-04-12' },
        // Refused: it lies in the future.
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
      const { transactions } = await booksOf(ledger.controlUrl)
      t.equal(
        transactions.filter(
          (one: any) => one.type === 'repayment' && /^B-/.test(one.loanExternalId),
        ).length,
        5,
      )
      await fetch(`${ledger.controlUrl}/business-date`, { method: 'PUT', body: '{"date":null}' })
    },
  )

  t.test('a client that the ledger refuses fails its loans, and none of them is tried', async t => {
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
      select count(*)::integer as count from loanops.operation where external_id in ('K-1', 'K-2')`.execute(
        service.db,
      )
    ).rows[0] as { count: number }
    t.equal(count, 0)
  })

  t.test(
    'what the ledger has already and equals its row is done; what differs fails and says how',
    async t => {
      const row = { client_external_id: 'D', loan_external_id: 'D-1' }
      await migrateCsv(
        service,
        'loans',
        loansCsv(row, { ...row, loan_external_id: 'D-2', disbursed_on_date: '' }),
      )
      await migrateCsv(service, 'repayments', repaymentsCsv({ loan_external_id: 'D-1' }))

      const before = await booksOf(ledger.controlUrl)
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
        /it is in the ledger already, and differs: principal is 1200 there, not 1300/,
      )
      t.same((await loanIn('D-2')).status, 200, 'and is not disbursed')

      const other = await migrateCsv(
        service,
        'repayments',
        repaymentsCsv({ loan_external_id: 'D-1', amount: '7' }),
      )
      t.match((await rowsOf(service, other.migration_id))[0].reason, /amount is 100.5 there, not 7/)
      const usha = await migrateCsv(
        service,
        'loans',
        loansCsv({ ...row, client_firstname: 'Usha' }),
      )
      t.match(
        (await rowsOf(service, usha.migration_id))[0].reason,
        /firstname is Asha there, not Usha/,
      )
      t.equal(
        (await booksOf(ledger.controlUrl)).transactions.length,
        before.transactions.length + 2,
        'only the disbursement of D-3',
      )
    },
  )

  t.test('a dry run says what a run would do and writes nothing', async t => {
    await migrateCsv(
      service,
      'loans',
      loansCsv(
        { client_external_id: 'E', loan_external_id: 'E-1' },
        { client_external_id: 'E', loan_external_id: 'E-2', disbursed_on_date: '' },
      ),
    )
    await migrateCsv(service, 'repayments', repaymentsCsv({ loan_external_id: 'E-1' }))
    const counters = async () => (await fetch(`${ledger.controlUrl}/log`)).json() as Promise<any>
    const { last } = await counters()

    const row = { client_external_id: 'E' }
    const loans = await migrateCsv(
      service,
      'loans',
      loansCsv(
        { ...row, loan_external_id: 'E-1' },
        { ...row, loan_external_id: 'E-2' },
        { ...row, loan_external_id: 'E-3' },
        { ...row, loan_external_id: 'E-4', client_external_id: 'E2' },
        { ...row, loan_external_id: 'E-1'.replace('1', '5'), principal: '1' },
      ),
      { dry_run: true },
    )
    t.match(loans, {
      status: 'uploaded',
      is_dry_run: true,
      dry_run: { would_change: 4, in_ledger: 1, differs: 0, refused: 0 },
    })
    t.same(
      (await rowsOf(service, loans.migration_id)).map(({ finding }: any) => finding),
      ['in_ledger', 'new', 'new', 'new', 'new'],
    )

    const repayments = await migrateCsv(
      service,
      'repayments',
      repaymentsCsv(
        { loan_external_id: 'E-1' },
        { loan_external_id: 'E-1', payment_reference: 'new' },
        { loan_external_id: 'E-8' },
        { loan_external_id: 'E-1', payment_reference: 'p' },
      ).replace('E-1,2024-02-12,100.50,p-1', 'E-1,2024-02-12,99,p-1'),
      { dry_run: true },
    )
    t.match(repayments.dry_run, {
      would_change: 2,
      differs: 1,
      refused: 1,
      findings: [
        {
          line: 2,
          external_loan_id: 'E-1',
          finding: 'differs',
          reason: /amount is 100.5 there, not 99/,
        },
        { line: 4, finding: 'refused', reason: 'the ledger has no such loan' },
      ],
    })
    t.equal((await counters()).last, last, 'the ledger’s log of writes has not grown')
    t.equal((await call('POST', `/api/migration/${loans.migration_id}/cancel`)).status, 409)
  })

  t.test('it is refused where it cannot be: running, invalid, unknown, not run yet', async t => {
    const { body } = await uploadCsv(
      service,
      'loans',
      loansCsv(
        { loan_external_id: 'F-1', client_external_id: 'F' },
        { loan_external_id: 'F 2', client_external_id: 'F' },
      ),
    )
    const { migration_id } = body
    const run = (more: object = {}) => call('POST', '/api/migration/run', { migration_id, ...more })
    t.match(await run(), { status: 409, body: { code: 'CONFLICT', detail: /1 rows are invalid/ } })
    t.equal((await call('POST', `/api/migration/${migration_id}/retry`)).status, 409)
    t.equal((await call('POST', `/api/migration/${migration_id}/cancel`)).status, 409)
    t.match(await run({ skip_invalid: true }), {
      status: 202,
      body: { migration_id, status: 'running' },
    })
    t.match(await ended(service, migration_id), { done: 1, invalid_rows: 1, valid_rows: 1 })
    t.match(
      await run({ skip_invalid: true }),
      { status: 202, body: { status: 'completed' } },
      'a completed one stays so',
    )
    t.match(await run({ skip: true }), { status: 400, body: { code: 'INVALID_PAYLOAD' } })
    const unknown = '01a1fd1c-fdab-783e-838a-f53ab1a315f0'
    t.equal((await call('POST', '/api/migration/run', { migration_id: unknown })).status, 404)
    t.equal((await call('GET', `/api/migration/${unknown}`)).status, 404)
    t.equal((await call('GET', `/api/migration/${unknown}/errors.csv`)).status, 404)
    t.equal((await call('GET', '/api/migration/x')).status, 400)
  })

  t.test('cancel takes back what nobody has begun, and retry goes on with it', async t => {
    await migrateCsv(
      service,
      'loans',
      loansCsv(...[1, 2].map(n => ({ client_external_id: 'G', loan_external_id: `G-${n}` }))),
    )
    await fault(ledger.controlUrl, {
      kind: 'latency',
      ms: 300,
      match: { externalId: 'G-1', on: 'writes' },
    })
    const csv = repaymentsCsv(
      ...Array.from({ length: 40 }, (_, i) => ({
        loan_external_id: 'G-1',
        payment_reference: `g${i}`,
      })),
    )
    const { body } = await uploadCsv(service, 'repayments', csv)
    const { migration_id } = body
    await call('POST', '/api/migration/run', { migration_id })
    t.match(await call('POST', '/api/migration/run', { migration_id }), {
      status: 409,
      body: { detail: 'It runs already' },
    })
    for (let done = 0; done === 0; )
      done = (await call('GET', `/api/migration/${migration_id}`)).body.done
    t.match(await call('POST', `/api/migration/${migration_id}/cancel`), {
      status: 202,
      body: { status: 'cancelled' },
    })
    t.match(await call('POST', `/api/migration/${migration_id}/cancel`), { status: 409 })
    await fetch(`${ledger.controlUrl}/faults`, { method: 'DELETE' })
    const { done } = (await call('GET', `/api/migration/${migration_id}`)).body
    t.ok(done < 40)
    await call('POST', `/api/migration/${migration_id}/retry`)
    t.match(await ended(service, migration_id), { status: 'completed', done: 40, failed: 0 })
    const { transactions } = await booksOf(ledger.controlUrl)
    t.equal(
      transactions.filter((one: any) => one.loanExternalId === 'G-1' && one.type === 'repayment')
        .length,
      40,
    )
  })

  t.test('repayments wait for the run that brings their loans', async t => {
    await fault(ledger.controlUrl, { kind: 'latency', ms: 200, match: { on: 'writes' } })
    const { body: loans } = await uploadCsv(
      service,
      'loans',
      loansCsv({ client_external_id: 'H', loan_external_id: 'H-1' }),
    )
    const { body } = await uploadCsv(
      service,
      'repayments',
      repaymentsCsv({ loan_external_id: 'H-1' }),
    )
    await call('POST', '/api/migration/run', { migration_id: loans.migration_id })
    const early = await call('POST', '/api/migration/run', { migration_id: body.migration_id })
    t.match(early, { status: 409, body: { detail: /is running loans on the same loans/ } })
    await fetch(`${ledger.controlUrl}/faults`, { method: 'DELETE' })
    await ended(service, loans.migration_id)
    t.equal(
      (await call('POST', '/api/migration/run', { migration_id: body.migration_id })).status,
      202,
    )
    t.match(await ended(service, body.migration_id), { done: 1 })
  })

  t.test('a loan that an operation brought and disbursed takes the file’s repayments', async t => {
    await migrateCsv(
      service,
      'loans',
      loansCsv({ client_external_id: 'I', loan_external_id: 'I-1', disbursed_on_date: '' }),
    )
    await operate(call, 'LOAN_DISBURSE', {
      external_loan_id: 'I-1',
      actualDisbursementDate: '12 January 2024',
    })
    t.match(await migrateCsv(service, 'repayments', repaymentsCsv({ loan_external_id: 'I-1' })), {
      done: 1,
    })
  })

  t.test('a loan that was disbursed at the ledger itself takes the file’s repayments', async t => {
    const approved = { loan_external_id: 'J-1', client_external_id: 'J', disbursed_on_date: '' }
    await migrateCsv(service, 'loans', loansCsv(approved))
    const csv = repaymentsCsv({ loan_external_id: 'J-1' })
    const { dry_run } = await migrateCsv(service, 'repayments', csv, { dry_run: true })
    t.match(dry_run, { refused: 1, findings: [{ reason: 'the loan is not disbursed: Approved' }] })
    await disburse(withLedger(service), 'J-1')
    t.match(await migrateCsv(service, 'repayments', csv), { invalid_rows: 0, done: 1 })
  })

  t.test('uploads, runs, retries, cancels and downloads are audited', async t => {
    const { rows } = await sql<{ action: string }>`
      select distinct action from ops.audit where action like 'migration.%' order by 1`.execute(
      service.db,
    )
    t.same(
      rows.map(({ action }) => action),
      [
        'migration.cancel',
        'migration.download',
        'migration.dry_run',
        'migration.retry',
        'migration.run',
        'migration.upload',
      ],
    )
  })

  t.test('ops.migration and the metrics tell of it', async t => {
    const { rows } = await sql<any>`
      select migration_id, type, status, rows, valid_rows, invalid_rows, done, failed, started_at, ended_at
        from ops.migration where status = 'completed' limit 1`.execute(service.db)
    t.equal(rows.length, 1)
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    t.match(metrics, /loanops_migration_rows_total\{state="done"\} \d+/)
    t.match(metrics, /loanops_migration_rows_total\{state="stopped"\} 1/)
  })
})

async function fault(controlUrl: string, rule: object) {
  await fetch(`${controlUrl}/faults`, { method: 'POST', body: JSON.stringify(rule) })
}
