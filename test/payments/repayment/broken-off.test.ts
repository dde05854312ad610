import { sql } from 'kysely'
import t from 'tap'
import { newId } from '../../../src/ids.ts'
import { expireLeases } from '../../support/engine/leases.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

t.test('a run whose worker died continues when its lease ends, without any job', async t => {
  const { db, call } = await paymentService(t)
  const id = newId()
  await sql`
    insert into core.batch_run (id, trigger, status, started_at, attempt, claimed_until)
    values (${id}, 'request', 'running', now(), 1, now())`.execute(db)
  await until(async () => {
    const { body } = await call('GET', `/api/payments/batches/${id}`)
    return body.status === 'completed'
  }, 'the run ends')
  const { rows } = await sql`select from pgboss.job where name = 'payment-batch'`.execute(db)
  t.equal(rows.length, 0)
})

t.test('an interrupted run shows why, and continues once the cause is removed', async t => {
  const { db, loan, webhook, call } = await paymentService(t)
  await loan('L-1')
  await webhook('gateway_a', capturedA({ loan: 'L-1' }), { lender: 'LENDER_02' })
  await sql`alter table core.posting rename to elsewhere`.execute(db)
  const { body } = await call('POST', '/api/payments/batch')
  const run = async () => (await call('GET', `/api/payments/batches/${body.batch_id}`)).body
  await until(async () => (await run()).last_error !== null, 'it says why')
  t.match(await run(), { status: 'running', last_error: /core\.posting/ })
  await sql`alter table core.elsewhere rename to posting`.execute(db)
  await expireLeases(db)
  await until(async () => (await run()).ended_at !== null, 'the run ends')
  t.match(await run(), { status: 'completed', posted: 1 })
})
