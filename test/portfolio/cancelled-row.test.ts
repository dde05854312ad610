import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { programAsker } from '../../src/accounts/audit.ts'
import { cancelRun } from '../../src/portfolio/run/cancel-run.ts'
import { lockRun } from '../../src/portfolio/run/run-lock.ts'
import { booksAt } from '../support/ledger/ledger-driver.ts'
import { throughProxy } from '../support/ledger/through-proxy.ts'
import { withLedger } from '../support/payments/payments.ts'
import { ended, migrateCsv, rowsOf, startCsv, uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test(
  'a cancelled repayment stops only later ones of its loan, and the run waits for the call under way',
  async t => {
    const { service, answer, proxy } = await behindProxy(t)
    await migrateCsv(service, 'loans', loansCsv({}))
    proxy.interferences = [{ of: 'p-2', on: 'writes', after: answer.promise }]
    const references = ['p-2', 'p-3', 'p-4', 'p-5']
    const csv = repaymentsCsv(...references.map(payment_reference => ({ payment_reference })))
    const id = await startCsv(service, 'repayments', csv)
    await until(async () => proxy.held > 0, 'line 2 is at the ledger')
    await cancelStep(service, id, 4, 'MIGRATED_REPAYMENT')
    await untilFedAgain(service)
    const { body: meanwhile } = await service.call('GET', `/api/migration/${id}`)
    answer.resolve()
    t.match(meanwhile, { status: 'running', done: 0, failed: 1, stopped: 1 })
    t.match(await ended(service, id), { status: 'completed', done: 2, failed: 1, stopped: 1 })
    t.match(await rowsOf(service, id), [
      { line: 2, state: 'done' },
      { line: 3, state: 'done' },
      { line: 4, state: 'failed', reason: /An operator has cancelled this operation/ },
      { line: 5, state: 'stopped', reason: 'not tried, because line 4 of the same loan failed' },
    ])
    const { transactions } = await booksAt(service.ledger.controlUrl)
    t.equal(transactions.filter(({ type }: { type: string }) => type === 'repayment').length, 2)
  },
)

t.test('a run whose row is cancelled at a later step waits for the call under way', async t => {
  const { service, answer, proxy } = await behindProxy(t)
  proxy.interferences = [{ of: 'L-1', on: 'writes', after: answer.promise }]
  const id = await startCsv(service, 'loans', loansCsv({}))
  await until(async () => proxy.held > 0, 'the loan is at the ledger')
  await cancelStep(service, id, 2, 'LOAN_APPROVE')
  await untilFedAgain(service)
  t.match((await service.call('GET', `/api/migration/${id}`)).body, { status: 'running' })
  answer.resolve()
  t.match(await ended(service, id), { status: 'completed', done: 0, failed: 1 })
  await service.call('POST', `/api/migration/${id}/retry`)
  t.match(await ended(service, id), { status: 'completed', done: 1, failed: 0 })
})

t.test('a row whose step ends while its run is cancelled can be run again', async t => {
  const { service, answer, proxy } = await behindProxy(t)
  proxy.interferences = [{ of: 'L-1', on: 'writes', after: answer.promise }]
  const id = await startCsv(service, 'loans', loansCsv({}))
  await until(async () => proxy.held > 0, 'the loan is at the ledger')
  await service.db.transaction().execute(async trx => {
    await sql`select from loanops.migration_row for update`.execute(trx)
    answer.resolve()
    await until(async () => (await waiting(service)) >= 1, 'the end of the step waits')
    await cancelRun(trx, id, programAsker('test'))
  })
  await until(async () => (await rowsOf(service, id))[0]?.state !== 'running', 'the step has ended')
  t.match(await rowsOf(service, id), [{ line: 2, state: 'valid' }])
  await service.call('POST', `/api/migration/${id}/retry`)
  t.match(await ended(service, id), { status: 'completed', done: 1, failed: 0 })
})

t.test('the loan of a cancelled row leaves its client to another row', async t => {
  const service = await startTestService(t)
  await service.call('POST', '/api/ledger/pause', { reason: 'no row ends' })
  const id = await startCsv(service, 'loans', loansCsv({}, { loan_external_id: 'L-2' }))
  await until(async () => (await stepsOf(service)) > 0, 'the rows are under way')
  await cancelStep(service, id, 2, 'LOAN_CREATE')
  await service.call('POST', '/api/ledger/resume')
  t.match(await ended(service, id), { status: 'completed', done: 1, failed: 1 })
})

t.test('a client whose loans are all cancelled is not created', async t => {
  const service = await startTestService(t)
  await service.call('POST', '/api/ledger/pause', { reason: 'no row ends' })
  const id = await startCsv(service, 'loans', loansCsv({}, { loan_external_id: 'L-2' }))
  await until(async () => (await stepsOf(service)) > 0, 'the rows are under way')
  for (const line of [2, 3]) await cancelStep(service, id, line, 'LOAN_CREATE')
  const { rows } = await sql`
    select from loanops.operation where status = 'processing'`.execute(service.db)
  t.equal(rows.length, 0)
  t.match(await ended(service, id), { status: 'completed', failed: 2 })
})

t.test('a cancel waits for the end of a failed row without holding up that end', async t => {
  const service = await startTestService(t)
  await withLedger(service).loan('L-1')
  // The later line comes first, and fails: the loan was not disbursed then.
  const rows = [
    { payment_reference: 'p-2', transaction_date: '2026-02-12' },
    { payment_reference: 'p-3', transaction_date: '2023-02-05' },
  ]
  await sql`
    create function public.hold_row() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(1);
      return new;
    end $$;
    create trigger hold_row before update on loanops.migration_row
      for each row when (new.state = 'failed') execute function public.hold_row()`.execute(
    service.db,
  )
  const { migration_id: id } = (await uploadCsv(service, 'repayments', repaymentsCsv(...rows))).body
  let cancel: ReturnType<TestService['call']> | undefined
  await service.db.transaction().execute(async trx => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx)
    await sql`select pg_advisory_xact_lock(1)`.execute(trx)
    const begun = await service.call('POST', '/api/migration/run', { migration_id: id })
    t.match(begun, { status: 202 })
    await until(async () => (await waiting(service)) >= 1, 'the end of line 3 waits')
    cancel = service.call('POST', `/api/migration/${id}/cancel`)
    await until(async () => (await waiting(service)) >= 2, 'the cancel waits')
    const { rows: free } = await sql`
      select from loanops.migration_row where migration_id = ${id} and line = 2
       for update skip locked`.execute(trx)
    t.equal(free.length, 1)
  })
  t.match(await cancel, { status: 202 })
})

t.test(
  'a migration is cancelled while one of its operations takes the same locks in the opposite order',
  async t => {
    const service = await startTestService(t)
    await service.call('POST', '/api/ledger/pause', { reason: 'no row ends' })
    const id = await startCsv(service, 'loans', loansCsv({}))
    await until(async () => (await stepsOf(service)) > 0, 'the row is under way')
    let cancel: ReturnType<TestService['call']> | undefined
    const operation = service.db.transaction().execute(async trx => {
      await sql`select from loanops.operation for update`.execute(trx)
      cancel = service.call('POST', `/api/migration/${id}/cancel`)
      await until(async () => (await waiting(service)) >= 1, 'the cancel waits')
      await lockRun(trx, id)
    })
    await operation.catch(error => t.match(error, /deadlock/))
    t.match(await cancel, { status: 202 })
  },
)

async function stepsOf({ db }: TestService): Promise<number> {
  const { rows } = await sql`select from loanops.migration_step`.execute(db)
  return rows.length
}

/** How many sessions wait for a lock. */
async function waiting({ db }: TestService): Promise<number> {
  const { rows } = await sql`
    select from pg_locks l join pg_stat_activity a using (pid)
     where not l.granted and a.datname = current_database()`.execute(db)
  return rows.length
}

async function behindProxy(t: Test) {
  const { proxy, service } = await throughProxy(t)
  return { service, proxy, answer: Promise.withResolvers<void>() }
}

/** A run that was started later has ended: the first has been looked at since, because the runs take turns. */
async function untilFedAgain(service: TestService): Promise<void> {
  const other = { client_external_id: 'C-2', loan_external_id: 'L-2' }
  await migrateCsv(service, 'loans', loansCsv(other))
}

async function cancelStep({ db, call }: TestService, id: string, line: number, type: string) {
  const { rows } = await sql<{ tracking_id: string }>`
    select operation_type || '|' || id as tracking_id
      from loanops.migration_step s join loanops.operation o on o.id = s.operation_id
     where s.migration_id = ${id} and s.line = ${line} and o.operation_type = ${type}`.execute(db)
  const path = `/api/ledger/operations/${encodeURIComponent(String(rows[0]?.tracking_id))}/cancel`
  const { status } = await call('POST', path)
  if (status !== 202) throw new Error(`not cancelled: ${status}`)
}
