import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { booksOf } from '../support/books.ts'
import { ended, migrateCsv, rowsOf, uploadCsv } from '../support/migrate.ts'
import { startProxy } from '../support/proxy.ts'
import { loansCsv, repaymentsCsv } from '../support/rows.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test(
  'a cancelled repayment stops only the later ones of its loan, and the run waits for the call under way',
  async t => {
    const { service, answer, proxy } = await behindProxy(t)
    await migrateCsv(service, 'loans', loansCsv({}))
    proxy.interferences = [{ of: 'p-2', on: 'writes', after: answer.promise }]
    const references = ['p-2', 'p-3', 'p-4', 'p-5']
    const csv = repaymentsCsv(...references.map(payment_reference => ({ payment_reference })))
    const id = await run(service, 'repayments', csv)
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
    const { transactions } = await booksOf(service.ledger.controlUrl)
    t.equal(transactions.filter(({ type }: { type: string }) => type === 'repayment').length, 2)
  },
)

t.test('a run whose row is cancelled at a later step waits for the call under way', async t => {
  const { service, answer, proxy } = await behindProxy(t)
  proxy.interferences = [{ of: 'L-1', on: 'writes', after: answer.promise }]
  const id = await run(service, 'loans', loansCsv({}))
  await until(async () => proxy.held > 0, 'the loan is at the ledger')
  await cancelStep(service, id, 2, 'LOAN_APPROVE')
  await untilFedAgain(service)
  t.match((await service.call('GET', `/api/migration/${id}`)).body, { status: 'running' })
  answer.resolve()
  t.match(await ended(service, id), { status: 'completed', done: 0, failed: 1 })
  await service.call('POST', `/api/migration/${id}/retry`)
  t.match(await ended(service, id), { status: 'completed', done: 1, failed: 0 })
})

async function behindProxy(t: Test) {
  const proxy = await startProxy(t)
  const service = await startTestService(t, { LEDGER_URL: proxy.url })
  proxy.target = service.ledger.url
  return { service, proxy, answer: Promise.withResolvers<void>() }
}

async function run(service: TestService, type: string, csv: string): Promise<string> {
  const { migration_id } = (await uploadCsv(service, type, csv)).body
  await service.call('POST', '/api/migration/run', { migration_id })
  return migration_id
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
