import { sql } from 'kysely'
import t from 'tap'
import { finishRows } from '../../src/portfolio/run/finish-rows.ts'
import { lockRun } from '../../src/portfolio/run/run-lock.ts'
import { booksAt } from '../support/ledger/ledger-driver.ts'
import { throughProxy } from '../support/ledger/through-proxy.ts'
import { withLedger } from '../support/payments/payments.ts'
import { ended, rowsOf, startCsv } from '../support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('a cancel takes back rows that wait for the ledger’s set-up after a refusal', async t => {
  const service = await startTestService(t)
  const { ledger } = service
  await withLedger(service).loan('L-1')
  await faults(ledger, [{ kind: 'unauthorized', match: { on: 'writes' } }])
  const id = await startCsv(service, 'repayments', repaymentsCsv({}, { payment_reference: 'p-2' }))
  await until(async () => (await waitingFor(service)).includes('ledger_credentials'))
  await cancel(service, id)
  t.match(await rowsOf(service, id), [{ state: 'valid' }, { state: 'valid' }])
  t.same(await waitingFor(service), [])
  t.match(await tried(service), [
    {
      status: 'failed',
      error_message: 'Refused with status 409: An operator has cancelled this operation',
    },
  ])
  await faults(ledger, [])
  await service.call('POST', `/api/migration/${id}/retry`)
  t.match(await ended(service, id), { status: 'completed', done: 2, failed: 0 })
  t.equal((await repayments(service)).length, 2)
})

t.test('a cancel takes back rows that a pause put off after their claim', async t => {
  const service = await startTestService(t)
  await withLedger(service).loan('L-1')
  await service.call('POST', '/api/ledger/pause', { reason: 'close of business' })
  const id = await startCsv(service, 'repayments', repaymentsCsv({}))
  await until(async () => (await waitingFor(service)).length === 1)
  // The operation is as a worker leaves it that claimed it just before the pause.
  await sql`
    update loanops.operation set attempt = 1, sent_attempt = 1
     where status = 'processing'`.execute(service.db)
  await cancel(service, id)
  await service.call('POST', '/api/ledger/resume')
  t.match(await rowsOf(service, id), [{ state: 'valid' }])
  t.same(await waitingFor(service), [])
})

t.test('a cancel takes back rows that are claimed and wait for a slot', async t => {
  const { service, proxy } = await throughProxy(t, { LEDGER_CONCURRENCY: '2' })
  for (const loan of ['L-1', 'L-2']) await withLedger(service).loan(loan)
  const answer = Promise.withResolvers<void>()
  proxy.interferences = [{ of: 'p-1', on: 'writes', after: answer.promise }]
  const other = { loan_external_id: 'L-2', payment_reference: 'p-2' }
  const id = await startCsv(service, 'repayments', repaymentsCsv({}, other))
  await until(async () => proxy.held > 0 && (await claimed(service)) === 2)
  await cancel(service, id)
  answer.resolve()
  await until(async () => (await claimed(service)) === 0)
  t.match(await rowsOf(service, id), [{ state: 'done' }, { state: 'valid' }])
  t.match(await repayments(service), [{ loanExternalId: 'L-1' }])
})

t.test('a client that waits for the ledger’s set-up goes with the last of its loans', async t => {
  const service = await startTestService(t)
  await faults(service.ledger, [{ kind: 'unauthorized', match: { on: 'writes' } }])
  const id = await startCsv(service, 'loans', loansCsv({}))
  await until(async () => (await waitingFor(service)).includes('ledger_credentials'))
  const { rows } = await sql<{ id: string }>`
    select operation_type || '|' || id as id from loanops.operation
     where operation_type = 'LOAN_CREATE'`.execute(service.db)
  const path = `/api/ledger/operations/${encodeURIComponent(rows[0]?.id ?? '')}/cancel`
  t.match(await service.call('POST', path), { status: 202 })
  t.same(await waitingFor(service), [])
  t.match(await ended(service, id), { status: 'completed', failed: 1 })
})

t.test('a client that was tried stays for a loan that is not fed yet', async t => {
  const service = await startTestService(t)
  await faults(service.ledger, [{ kind: 'unauthorized', match: { on: 'writes' } }])
  const id = await startCsv(service, 'loans', loansCsv({}, { loan_external_id: 'L-2' }))
  await until(async () => (await waitingFor(service)).includes('ledger_credentials'))
  await service.db.transaction().execute(async trx => {
    await lockRun(trx, id)
    // The rows are as in a file of which more rows are under way than line 3 comes behind.
    await sql`
      delete from loanops.operation o using loanops.migration_step s
       where s.operation_id = o.id and s.line = 3`.execute(trx)
    await sql`update loanops.migration_row set state = 'valid' where line = 3`.execute(trx)
    const { rows } = await sql<{ id: string }>`
      update loanops.operation set status = 'failed', error_message = 'cancelled', processed_at = now()
       where operation_type = 'LOAN_CREATE' returning id`.execute(trx)
    const decision = { status: 'failed', errorMessage: 'cancelled' }
    await finishRows(trx, [{ claim: rows[0], decision } as any])
  })
  await faults(service.ledger, [])
  await sql`
    update loanops.operation set next_try_at = now()
     where status = 'processing'`.execute(service.db)
  t.match(await ended(service, id), { status: 'completed', done: 1, failed: 1 })
})

async function cancel({ call }: TestService, id: string) {
  const { status } = await call('POST', `/api/migration/${id}/cancel`)
  if (status !== 202) throw new Error(`not cancelled: ${status}`)
}

async function waitingFor({ db }: TestService): Promise<(string | null)[]> {
  const { rows } = await sql<{ waiting_for: string | null }>`
    select waiting_for from loanops.operation where status = 'processing'`.execute(db)
  return rows.map(({ waiting_for }) => waiting_for)
}

async function claimed({ db }: TestService): Promise<number> {
  const { rows } = await sql`
    select from loanops.operation where claimed_by is not null`.execute(db)
  return rows.length
}

async function tried({ db }: TestService): Promise<any[]> {
  const { rows } = await sql<any>`
    select status, error_message from loanops.operation where attempts > 0`.execute(db)
  return rows
}

async function repayments({ ledger }: TestService): Promise<any[]> {
  const { transactions } = await booksAt(ledger.controlUrl)
  return transactions.filter(({ type }: { type: string }) => type === 'repayment')
}

async function faults({ controlUrl }: TestService['ledger'], rules: object[]) {
  await fetch(`${controlUrl}/faults`, { method: 'PUT', body: JSON.stringify(rules) })
}
