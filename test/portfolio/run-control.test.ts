import { sql } from 'kysely'
import t from 'tap'
import { booksAt } from '../support/ledger/ledger-driver.ts'
import { ended, errorsOf, migrateCsv, uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'

/** The tests of runs share this service: each has clients and loans of its own. */
const service = await startTestService(t)

t.test('a run, retry or cancel that does not fit the migration’s state is refused', async t => {
  const { call } = service
  const { body } = await uploadCsv(
    service,
    'loans',
    loansCsv(
      { loan_external_id: 'F-1', client_external_id: 'F' },
      { loan_external_id: '..', client_external_id: 'F' },
    ),
  )
  const { migration_id } = body
  const run = (more: object = {}) => call('POST', '/api/migration/run', { migration_id, ...more })
  t.match(await run(), { status: 409, body: { code: 'CONFLICT', detail: /invalid rows \(1\)/ } })
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
    'a completed migration stays completed',
  )
  t.match(await run({ skip: true }), { status: 400, body: { code: 'INVALID_PAYLOAD' } })
  const unknown = '01a1fd1c-fdab-783e-838a-f53ab1a315f0'
  t.equal((await call('POST', '/api/migration/run', { migration_id: unknown })).status, 404)
  t.equal((await call('GET', `/api/migration/${unknown}`)).status, 404)
  t.equal((await call('GET', `/api/migration/${unknown}/errors.csv`)).status, 404)
  t.equal((await call('GET', '/api/migration/x')).status, 400)
})

t.test('a cancel takes back the rows not started, and a retry continues with them', async t => {
  const { call, ledger } = service
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
    body: { detail: 'The migration is already running' },
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
  const { transactions } = await booksAt(ledger.controlUrl)
  t.equal(
    transactions.filter((one: any) => one.loanExternalId === 'G-1' && one.type === 'repayment')
      .length,
    40,
  )
})

t.test('uploads, runs, retries, cancels and downloads are audited', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const { call, db } = service
  const csv = loansCsv({}, { principal: 'x' })
  const { migration_id } = (await uploadCsv(service, 'loans', csv)).body
  await errorsOf(service, migration_id)
  const run = { migration_id, skip_invalid: true }
  // Without a worker, each run lasts until it is cancelled.
  await call('POST', '/api/migration/run', { ...run, dry_run: true })
  await call('POST', `/api/migration/${migration_id}/cancel`)
  await call('POST', '/api/migration/run', run)
  await call('POST', `/api/migration/${migration_id}/cancel`)
  await call('POST', `/api/migration/${migration_id}/retry`)
  const { rows } = await sql<{ action: string }>`
    select distinct action from ops.audit where action like 'migration.%' order by 1`.execute(db)
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

t.test('ops.migration and the metrics show the result of a run', async t => {
  const service = await startTestService(t)
  await migrateCsv(service, 'loans', loansCsv({}))
  const late = { transaction_date: '2099-01-01' }
  const csv = repaymentsCsv(
    {},
    { ...late, payment_reference: 'p-2' },
    { ...late, payment_reference: 'p-3' },
  )
  await migrateCsv(service, 'repayments', csv)
  const { rows } = await sql<any>`
    select migration_id, type, status, rows, valid_rows, invalid_rows, done, failed, started_at, ended_at
      from ops.migration where status = 'completed' and type = 'repayments'`.execute(service.db)
  t.equal(rows.length, 1)
  t.match(rows[0], { rows: 3, done: 1, failed: 1 })
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  t.match(metrics, /loanops_migration_rows_total\{state="done"\} \d+/)
  t.match(metrics, /loanops_migration_rows_total\{state="stopped"\} 1/)
})

async function fault(controlUrl: string, rule: object) {
  await fetch(`${controlUrl}/faults`, { method: 'POST', body: JSON.stringify(rule) })
}
