import { sql } from 'kysely'
import t from 'tap'
import { suspendedWorker } from '../support/engine/heir.ts'
import { attemptsOf, ending, enoughToTakeItForDown, submit } from '../support/engine/operations.ts'
import { control, disbursal, ledgerLoan } from '../support/ledger/loans.ts'
import { matchEach } from '../support/match-each.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { allSaved } from '../support/payments/payments.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv } from '../support/portfolio/rows.ts'
import { crashPointsIn, type Service, startProcess } from '../support/process.ts'
import { startTestService, type TestService, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

const STOP_WITHIN_MS = 25_000
const GOES_ON_WITHIN_MS = 15_000
const WAITING = 20

// Each waits for a lease or a timeout to run out: together they take no longer than one.
t.jobs = 5

t.test('SIGTERM hands back work in flight within 25 s, even while a call hangs', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const [hanging, ...loans] = await Promise.all(
    Array.from({ length: WAITING }, () => ledgerLoan(service, 'approved')),
  )
  await control(service, 'PUT', '/faults', [
    { kind: 'hang', match: { externalId: hanging } },
    { kind: 'latency', ms: 200 },
  ])
  const worker = startProcess('worker', envOf(service, { LEDGER_CONCURRENCY: '2' }))
  const hung = await submit(service.call, 'LOAN_DISBURSE', disbursal(hanging as string))
  const ids: string[] = []
  for (const loan of loans) ids.push(await submit(service.call, 'LOAN_DISBURSE', disbursal(loan)))
  t.match(await ending(service.call, ids[0] as string), { status: 'success' })
  await until(() => isHanging(service), 'the call hangs')
  const from = Date.now()
  await worker.kill('SIGTERM')
  t.ok(Date.now() - from < STOP_WITHIN_MS, `it took ${Date.now() - from} ms`)
  t.equal(worker.child.exitCode, 0, 'in order')
  t.same(await heldBy(service), [], 'no claim is left')
  matchEach(t, await attemptsOf(service, hung), [{ outcome: 'unknown' }])

  await control(service, 'PUT', '/faults', [])
  const next = startProcess('worker', envOf(service))
  for (const id of [hung, ...ids]) t.match(await ending(service.call, id), { status: 'success' })
  await next.kill('SIGTERM')
})

/** What else a worker may be doing when the ledger stops answering. */
const BUSY_WITH = {
  async 'a probe of a ledger that was down'(service: TestService) {
    await control(service, 'PUT', '/faults', [
      { kind: 'hang', match: { path: 'paymenttypes' } },
      { kind: 'error', status: 503 },
      // Reads that succeed in between would show that the ledger works.
      { kind: 'error', status: 503, match: { on: 'reads' } },
    ])
    await enoughToTakeItForDown(service.call)
  },
  async 'a dry run'(service: TestService) {
    await control(service, 'PUT', '/faults', [{ kind: 'hang', match: { on: 'reads' } }])
    const { body } = await uploadCsv(service, 'loans', loansCsv({}))
    const run = { migration_id: body.migration_id, dry_run: true }
    await service.call('POST', '/api/migration/run', run)
  },
}

for (const [what, begin] of Object.entries(BUSY_WITH)) {
  t.test(`SIGTERM ends a worker within 25 s even while ${what} hangs`, async t => {
    const service = await startTestService(t, { ROLE: 'api' })
    await begin(service)
    const worker = startProcess('worker', envOf(service))
    await until(() => isHanging(service), 'it hangs')
    const from = Date.now()
    await worker.kill('SIGTERM')
    t.ok(Date.now() - from < STOP_WITHIN_MS, `it took ${Date.now() - from} ms`)
    t.equal(worker.child.exitCode, 0, 'in order')
  })
}

t.test('a dead worker’s operation resumes within 15 s', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const loan = await ledgerLoan(service, 'approved')
  await control(service, 'PUT', '/faults', [
    { kind: 'hang', times: 1, match: { externalId: loan } },
  ])
  const heir = await suspendedWorker(t, envOf(service))
  const worker = startProcess('worker', envOf(service))
  const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
  await until(() => isHanging(service), 'the call hangs')
  await worker.kill('SIGKILL')
  const from = Date.now()
  heir.wake()
  t.match(await ending(service.call, id), { status: 'success' })
  t.ok(Date.now() - from < GOES_ON_WITHIN_MS, `it took ${Date.now() - from} ms`)
})

t.test('a worker suspended before its write does not write after its lease', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const loan = await ledgerLoan(service, 'approved')
  const freeze = { LOANOPS_CRASH_AT: 'write.unsent:1:SIGSTOP' }
  const frozen = startProcess('worker', envOf(service, freeze))
  const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
  await until(async () => crashPointsIn(frozen.said).length > 0)
  const heir = startProcess('worker', envOf(service))
  t.match(await ending(service.call, id), { status: 'success' })
  await heir.kill('SIGTERM')

  frozen.child.kill('SIGCONT')
  await stopped(frozen)
  const { calls } = await control(service, 'GET', '/counters')
  t.equal(calls['DISBURSE/LOAN'], 1)
  matchEach(t, await attemptsOf(service, id), [{ outcome: 'unknown' }, { outcome: 'done' }])
})

t.test('SIGTERM ends a batch’s statement that would take longer than a stop may', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const { db, call } = service
  await sql`select raw.make_store('LENDER_02', 'gateway_a'), raw.register('lender_02_gateway_a')`.execute(
    db,
  )
  await sql`
    create function base.slow() returns boolean language plpgsql as $$ begin perform pg_sleep(50); return true; end $$`.execute(
    db,
  )
  const { rows } = await sql<{ text: string }>`
    select rtrim(pg_get_viewdef('base.lender_02_gateway_a'::regclass), ';') as text`.execute(db)
  await sql`
    create or replace view base.lender_02_gateway_a as select * from (${sql.raw(rows[0]?.text ?? '')}) x
     where base.slow()`.execute(db)
  const worker = startProcess('worker', envOf(service))
  await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', capturedA())
  await allSaved(db)
  t.equal((await call('POST', '/api/payments/batch')).status, 202)
  const slow = async () => {
    const { rows: active } = await sql`
      select from pg_stat_activity
       where datname = current_database() and wait_event = 'PgSleep'
         and application_name = 'loanops-worker-patient'`.execute(db)
    return active.length > 0
  }
  await until(slow, 'the batch reads the slow view')
  const from = Date.now()
  await worker.kill('SIGTERM')
  t.ok(Date.now() - from < STOP_WITHIN_MS, `it took ${Date.now() - from} ms`)
  t.equal(worker.child.exitCode, 0, 'in order')
  t.notOk(await slow(), 'nothing is left that the next worker waits for')
  const { rows: left } = await sql`select source from core.pending_event`.execute(db)
  t.same(left, [{ source: 'lender_02_gateway_a' }], 'the next batch reads the event')
})

const envOf = (service: TestService, changes: NodeJS.ProcessEnv = {}) =>
  testEnv(service.databaseUrl, service.ledger.url, { LEDGER_TIMEOUT_MS: '30000', ...changes })

/** A stop waits for what is under way. */
async function stopped(worker: Service): Promise<void> {
  await worker.kill('SIGTERM')
}

async function isHanging(service: TestService): Promise<boolean> {
  return (await control(service, 'GET', '/counters')).faults.hang > 0
}

async function heldBy({ db }: TestService): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from loanops.operation where claimed_by is not null`.execute(db)
  return rows.map(({ id }) => id)
}
