import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { startProxy } from '../support/ledger/proxy.ts'
import { ended, uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv } from '../support/portfolio/rows.ts'
import { operate, startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('a loan whose client the file created is completed after the client’s change', async t => {
  const { row } = await retriedAfterChange(t)
  await until(async () => hasEnded(await row('L-2')), 'L-2 ends')
  t.match(await row('L-2'), { state: 'done', reason: null })
})

t.test('a loan in progress ends as it would have when its client fails in a retry', async t => {
  // Its operation is gone, as if cleaned up: the retry creates it again, and the ledger's client differs.
  const { service, proxy, id, row } = await retriedAfterChange(t, FORGET_CLIENT)
  await until(async () => hasEnded(await row('L-2')), 'L-2 ends')
  t.match(await row('L-2'), { state: 'failed', reason: /firstname is Usha there/ })
  t.match(await row('L-1'), { state: 'running' })
  proxy.interferences = []
  t.match(await ended(service, id), { done: 1, failed: 1, stopped: 0 })
  t.match(await row('L-1'), { state: 'done', reason: null })
})

const FORGET_CLIENT = sql`
  delete from loanops.operation where subject = 'client:C' and operation_type = 'CLIENT_CREATE'`

const hasEnded = ({ state }: { state: string }) => !['running', 'valid'].includes(state)

/**
 * Two loans of client C, cancelled while the ledger refuses a call of each. Then the client is changed and the loans are
 * retried; L-1's disbursal is still refused.
 */
async function retriedAfterChange(t: Test, beforeRetry?: typeof FORGET_CLIENT) {
  const proxy = await startProxy(t)
  const service = await startTestService(t, { LEDGER_URL: proxy.url })
  const { call, db } = service
  proxy.target = service.ledger.url
  const busy = (of: string) => ({ of, on: 'writes', status: 503, body: 'busy' }) as const
  const disbursal = busy('L-1?command=disburse')
  proxy.interferences = [disbursal, busy('L-2?command=approve')]
  const csv = loansCsv(
    ...['L-1', 'L-2'].map(loan => ({ loan_external_id: loan, client_external_id: 'C' })),
  )
  const { migration_id: id } = (await uploadCsv(service, 'loans', csv)).body
  await call('POST', '/api/migration/run', { migration_id: id })
  await until(async () => (await begun(service)) === 2, 'the call of each loan is in progress')
  await call('POST', `/api/migration/${id}/cancel`)
  await operate(call, 'CLIENT_UPDATE', { externalId: 'C', firstname: 'Usha' })
  await beforeRetry?.execute(db)
  t.equal((await call('POST', `/api/migration/${id}/retry`)).status, 202)
  proxy.interferences = [disbursal]
  const row = async (loan: string) => {
    const { rows } = await sql<any>`
      select state, reason from ops.migration_row
       where migration_id = ${id} and external_loan_id = ${loan}`.execute(db)
    return rows[0]
  }
  return { service, proxy, id, row }
}

/** How many calls have been tried and will be retried. */
async function begun({ db }: TestService): Promise<number> {
  const { rows } = await sql`
    select from loanops.operation
     where status = 'processing' and attempt > 0
       and (external_id, operation_type) in (('L-1', 'LOAN_DISBURSE'), ('L-2', 'LOAN_APPROVE'))`.execute(
    db,
  )
  return rows.length
}
