import { sql } from 'kysely'
import t from 'tap'
import { ended, uploadCsv } from '../support/migrate.ts'
import { startProxy } from '../support/proxy.ts'
import { loansCsv } from '../support/rows.ts'
import { operate, startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('a client that changes between a cancel and a retry', async t => {
  const proxy = await startProxy(t)
  const service = await startTestService(t, { LEDGER_URL: proxy.url })
  const { call, db } = service
  proxy.target = service.ledger.url
  const busy = (of: string) => ({ of, on: 'writes', status: 503, body: 'busy' }) as const
  const disbursements = [busy('C-1?command=disburse'), busy('K-1?command=disburse')]
  proxy.interferences = [...disbursements, busy('C-2?command=approve'), busy('K-2?command=approve')]
  const csv = loansCsv(
    ...['C-1', 'C-2', 'K-1', 'K-2'].map(loan => ({
      loan_external_id: loan,
      client_external_id: loan.slice(0, 1),
    })),
  )
  const { migration_id: id } = (await uploadCsv(service, 'loans', csv)).body
  await call('POST', '/api/migration/run', { migration_id: id })
  await until(async () => (await begun(service)) === 4, 'the call of each loan is in progress')
  await call('POST', `/api/migration/${id}/cancel`)
  for (const externalId of ['C', 'K'])
    await operate(call, 'CLIENT_UPDATE', { externalId, firstname: 'Usha' })
  // As if it had been cleaned up: the retry creates the client's operation again, and the ledger's client differs.
  await sql`
    delete from loanops.operation where subject = 'client:K' and operation_type = 'CLIENT_CREATE'`.execute(
    db,
  )
  t.equal((await call('POST', `/api/migration/${id}/retry`)).status, 202)
  proxy.interferences = disbursements
  const row = async (loan: string) => {
    const { rows } = await sql<any>`
      select state, reason from ops.migration_row
       where migration_id = ${id} and external_loan_id = ${loan}`.execute(db)
    return rows[0]
  }

  await t.test('does not fail its other loans if the file created it', async t => {
    await until(async () => !['running', 'valid'].includes((await row('C-2')).state), 'C-2 ends')
    t.match(await row('C-2'), { state: 'done', reason: null })
  })

  await t.test('does not decide how a loan in progress ends when the client fails', async t => {
    await until(async () => !['running', 'valid'].includes((await row('K-2')).state), 'K-2 ends')
    t.match(await row('K-2'), { state: 'failed', reason: /firstname is Usha there/ })
    t.match(await row('K-1'), { state: 'running' })
    proxy.interferences = []
    t.match(await ended(service, id), { done: 3, failed: 1, stopped: 0 })
    t.match(await row('K-1'), { state: 'done', reason: null })
  })
})

/** How many calls have been tried and will be retried. */
async function begun({ db }: TestService): Promise<number> {
  const { rows } = await sql`
    select from loanops.operation
     where status = 'processing' and attempt > 0 and (external_id, operation_type) in (
       ('C-1', 'LOAN_DISBURSE'), ('K-1', 'LOAN_DISBURSE'), ('C-2', 'LOAN_APPROVE'), ('K-2', 'LOAN_APPROVE'))`.execute(
    db,
  )
  return rows.length
}
