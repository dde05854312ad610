import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { untilSessionsWait } from '../support/database/sessions.ts'
import { startTestService, TOKEN } from '../support/service.ts'

/** More than there are connections, of either kind. */
const READERS = 12
const CONNECTIONS_FOR_READS = 4

/** Each list, sum and history, with a table that it reads. */
const READS = {
  '/api/ledger/operations': 'loanops.operation',
  '/api/migration': 'loanops.migration',
  '/api/approvals': 'loanops.approval',
  '/api/audit/head': 'loanops.audit_seal',
  '/api/payments': 'core.transaction',
  '/api/payments/summary': 'core.transaction',
  '/api/payments/gateway_a/pay_1?bodies=true': 'core.transaction',
  '/api/payments/batches': 'core.batch_run',
  '/api/references': 'core.reference',
  '/api/webhooks/check': 'loanops.webhook_call',
  '/api/gateways': 'core.source',
  '/api/gateways/backfills': 'core.backfill',
  '/api/gateways/gateway_a/statements': 'core.statement_file',
  '/api/reconciliation': 'core.day_figure',
  '/api/reconciliation.csv': 'core.day_figure',
  '/api/reconciliation/payments?day=2026-02-05&bucket=posted': 'core.transaction',
  '/api/settlements': 'core.settlement_row',
  '/api/settlements.csv': 'core.settlement_row',
  '/api/callbacks': 'loanops.callback',
}

t.test('operations and payment events are accepted however many calls wait for lists', async t => {
  const { call, db } = await startTestService(t, { ROLE: 'api' })
  const read = () => call('GET', '/api/payments/summary')
  const reads = await db.transaction().execute(async trx => {
    await sql`lock table core.transaction in access exclusive mode`.execute(trx)
    const reads = Array.from({ length: READERS }, read)
    await untilSessionsWait(db, { count: CONNECTIONS_FOR_READS })
    const client = { firstname: 'A', lastname: 'B', externalId: 'C-1' }
    const data = { ...client, activationDate: '05 January 2026' }
    t.match(await call('POST', '/api/ledger/operate', { status: 'CLIENT_CREATE', data }), {
      status: 202,
    })
    t.match(await call('POST', '/api/webhooks/gateway_a', { event: 'payment.captured' }), {
      status: 200,
    })
    return reads
  })
  await Promise.all(reads)
  t.match(await read(), { status: 200 })
})

t.test('no list, sum or history of the API takes a connection from operations', async t => {
  const { call, db } = await startTestService(t, { ROLE: 'api' })
  for (const [path, table] of Object.entries(READS)) {
    const { read } = await db.transaction().execute(async trx => {
      await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(trx)
      const read = call('GET', path)
      await untilSessionsWait(db)
      t.same(await waiting(db), ['loanops-reads'], path)
      return { read }
    })
    await read
  }
})

t.test('a token that reads bodies of events leaves places to others', async t => {
  const others = 'the-token-of-other-readers'
  const INTERNAL_TOKEN = `${TOKEN},others/read:${others}`
  const { call, db } = await startTestService(t, { ROLE: 'api', INTERNAL_TOKEN })
  const path = '/api/payments/gateway_a/pay_1?bodies=true'
  const detail = /too many of your own reads of bodies are in progress/
  const reads = await db.transaction().execute(async trx => {
    await sql`lock table core.transaction in access exclusive mode`.execute(trx)
    const reads = Array.from({ length: 9 }, () => call('GET', path))
    t.match(await Promise.race(reads), { status: 503, body: { detail } })
    return [...reads, call('GET', path, undefined, { 'x-internal-token': others })]
  })
  const answers = await Promise.all(reads)
  t.equal(answers.filter(({ body }) => detail.test(body.detail)).length, 1)
})

async function waiting(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select application_name as name from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
  return rows.map(({ name }) => name)
}
