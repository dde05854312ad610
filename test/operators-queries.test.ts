import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../src/database/database.ts'
import { uploadStatement } from './support/books/statements.ts'
import { buffersOf } from './support/database/buffers.ts'
import { freshDatabase } from './support/database/fresh-database.ts'
import { matchEach } from './support/match-each.ts'
import { rules } from './support/ops/alerts.ts'
import { capturedA, refundA, successB } from './support/payments/gateway-events.ts'
import { paymentService } from './support/payments/payments.ts'

const page = readFileSync(new URL('../docs/operating.md', import.meta.url), 'utf8')
const queries = [...page.matchAll(/^\|.*?\| `(select .*?)`/gm)].map(([, query = '']) =>
  query.replaceAll('\\|', '|'),
)
/** Enough rows that PostgreSQL prefers an index if there is one. */
const FINISHED = 20_000
/** The irrelevant rows that a query may read: a BRIN index is no more precise. */
const MAX_ROWS = FINISHED / 4
const SECONDS_PER_DAY = 86_400

t.test('no operators’ query reads everything that has ever finished', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  await addSource(db)
  await addFinished(db)
  await sql`vacuum analyze`.execute(db)
  const others = `select * from ops.operation where waiting_for = 'ledger_unavailable'
    | select * from ops.operation order by accepted_at desc limit 10`.split('|')
  for (const query of [...queries, ...others]) {
    const [touched] = await buffersOf(ownerUrl, db => sql.raw(query).execute(db))
    const { rows = 0 } = touched ?? {}
    t.ok(rows <= MAX_ROWS, `${rows} rows: ${query}`)
  }
})

t.test('today is the ledger’s day in operators’ queries, whatever the session’s is', async t => {
  const { db } = await freshDatabase(t)
  await sql`select core.copy_time_zone('Pacific/Kiritimati')`.execute(db)
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, attempt, response,
      accepted_at, processed_at)
    select raw.new_id(), 'CLIENT_CREATE', 'api', 'client:' || at, at, '{}', 'failed', 1, '{}', at, at
      from (select core.start_of(core.day_of(now())) as start) today,
           unnest(array[start, start - interval '1 second']) at`.execute(db)
  const today = queries.filter(query => query.includes(`status = 'failed' and processed_at`))
  t.equal(today.length, 2)
  for (const query of today) {
    const { rows } = await sql.raw<{ count?: string }>(query).execute(db)
    t.equal(rows.length, 1, query)
    t.equal(rows[0]?.count ?? '1', '1', query)
  }
})

t.test('The tracking id of a repayment or reversal with an unknown outcome is its own', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    with operation as (
      insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, attempt, unknown_since)
      select raw.new_id(), type, 'payment', 'loan:' || type, type, '{}', 'processing', 1, now()
        from unnest(array['REPAYMENT', 'REPAYMENT_REVERSAL']) type
      returning id, operation_type
    )
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, is_captured, is_verified, state, source, raw_id,
      received_at, operation_id)
    select 'gateway_a', case operation_type when 'REPAYMENT' then 'payment' else 'refund' end, operation_type, 'LENDER_02',
           true, true, 'posting', 'lender_02_gateway_a', id, now(), id
      from operation`.execute(db)
  const query = queries.find(text => text.includes('t.operation_id')) ?? ''
  const { rows } = await sql.raw<{ tracking_id: string }>(query).execute(db)
  const { rows: own } = await sql<{ tracking_id: string }>`
    select operation_type || '|' || id as tracking_id from loanops.operation`.execute(db)
  const ids = (of: { tracking_id: string }[]) => of.map(({ tracking_id }) => tracking_id).sort()
  t.same(ids(rows), ids(own))
})

t.test('the query of what was paid each day counts whole days, also of late payments', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, is_captured, is_verified, state, source, raw_id,
      received_at, paid_at, posted_at, operation_id)
    select 'gateway_a', 'payment', 'pay_' || days, 'LENDER_02', true, true, 'posted', 'lender_02_gateway_a', raw.new_id(),
           now(), core.start_of(core.day_of(now()) - days), now(), raw.new_id()
      from unnest(array[7, 8]) days`.execute(db)
  const query = queries.find(text => text.includes('sum(amount) from ops.payment')) ?? ''
  const { rows } = await sql.raw<{ count: string }>(query).execute(db)
  matchEach(t, rows, [{ count: '1' }])
})

t.test(
  'the query of what was paid each day adds up no amounts of different currencies',
  async t => {
    const { db } = await freshDatabase(t)
    await sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, is_captured, is_verified, state, source, raw_id,
      received_at, paid_at, posted_at, operation_id, amount, currency)
    select 'gateway_a', 'payment', 'pay_' || currency, 'LENDER_02', true, true, 'posted', 'lender_02_gateway_a', raw.new_id(),
           now(), now(), now(), raw.new_id(), 100, currency
      from unnest(array['INR', 'USD']) currency`.execute(db)
    const query = queries.find(text => text.includes('sum(amount) from ops.payment')) ?? ''
    const { rows } = await sql.raw<{ currency: string; sum: string }>(query).execute(db)
    t.same(rows.map(({ currency, sum }) => `${currency} ${sum}`).sort(), ['INR 100', 'USD 100'])
  },
)

t.test('the alert’s query about unbalanced days says where a statement is gone', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    with figure (day, currency, bucket, amount) as (
      values (date '2026-02-05', 'INR', 'posted', 100), ('2026-02-05', 'USD', 'captured', 7), ('2026-02-05', 'USD', 'posted', 7),
             ('2026-02-06', 'INR', 'captured', 90), ('2026-02-06', 'INR', 'posted', 60), ('2026-02-06', 'INR', 'missing', 30)
    ), stored as (
      insert into core.day_figure (day, lender, gateway, currency, bucket, payments, amount)
      select day, 'LENDER_02', 'gateway_a', currency, bucket, 1, amount from figure
    )
    insert into core.balanced_day (day, lender, gateway, currency, lost_at)
    select distinct day, 'LENDER_02', 'gateway_a', currency, now() from figure where currency = 'INR'`.execute(
    db,
  )
  const query = rules.find(({ alert }) => alert === 'LoanopsDaysUnbalanced')?.annotations.query
  const { rows } = await sql.raw(query ?? '').execute(db)
  matchEach(t, rows, [
    { currency: 'INR', statement: null, bucket: 'posted', amount: '100' },
    { currency: 'INR', statement: 'complete', bucket: 'missing', amount: '30' },
  ])
})

t.test('a day that no statement covers is among those that do not balance', async t => {
  const { db, loan, webhook, batch, call } = await paymentService(t)
  await loan('L-1')
  const yesterday = { created_at: Math.floor(Date.now() / 1_000) - SECONDS_PER_DAY }
  const paid = capturedA({ loan: 'L-1', payment: yesterday })
  await webhook('gateway_a', paid, { lender: 'LENDER_02' })
  await batch()
  await call('POST', '/api/payments/gateway_a/pay_1/check')
  const query = queries.find(text => text.includes('not balanced and payments')) ?? ''
  const { rows } = await sql.raw(query).execute(db)
  matchEach(t, rows, [{ bucket: 'posted', statement: null, amount: '1000.00' }])
})

t.test('a refund that only a report has is found, whatever else was refunded', async t => {
  const { db, url, loan, webhook, batch } = await paymentService(t)
  await loan('L-1')
  for (const id of ['pay_1', 'pay_2', 'pay_3'])
    await webhook('gateway_a', capturedA({ id, loan: 'L-1' }), { lender: 'LENDER_02' })
  await batch()
  const part = refundA({ id: 'rfnd_part', of: 'pay_1' })
  part.payload.refund.entity.amount = 30_000
  for (const event of [part, refundA({ id: 'rfnd_3', of: 'pay_3' })])
    await webhook('gateway_a', event, { lender: 'LENDER_02' })
  await batch()
  const row = (id: string, of: string, amount: string) =>
    `refund,${id},${amount},INR,0,0,${amount},0,2026-02-06T10:00:00,,setl_1,2026-02-07T12:00:00,UTR1,${of}`
  const report = [
    'transaction_entity,entity_id,amount,currency,fee (exclusive tax),tax,debit,credit,entity_created_at,payment_captured_at,settlement_id,settled_at,settlement_utr,payment_id',
    row('rfnd_part', 'pay_1', '300.00'),
    row('rfnd_lost', 'pay_1', '700.00'),
    row('rfnd_3', 'pay_3', '1000.00'),
  ]
  const path = 'gateway_a/statement?lender=LENDER_02'
  t.match(await uploadStatement(url, path, report.join('\n')), { body: { valid_rows: 3 } })
  const [ofPayments = [], ofNone = []] = await answersAboutRefunds(db)
  matchEach(t, ofPayments, [
    { gateway_payment_id: 'pay_1', external_loan_id: 'L-1', refunded: '1000.00' },
  ])
  t.same(ofNone, [])
})

t.test('a refund that gateway B took back is none that only a report has', async t => {
  const { db, url, loan, webhook, batch } = await paymentService(t)
  await loan('L-1')
  for (const id of ['1', '2'])
    await webhook('gateway_b', successB({ id, loan: 'L-1' }), { lender: 'LENDER_02' })
  await batch()
  const row = (event: string, direction: string, of: string, amount: string) =>
    `${event},${direction},INR,06-02-2026 10:00,${amount},${amount},s_1,2026-02-07 12:00,UTR1,${of}`
  const report = [
    'Event ID,Event Type,Sale Type,Event Currency,Event Time,Event Amount,Event Settlement Amount,cf_settlement_id,Settlement Date,UTR,Cashfree Reference ID',
    row('11,REFUND', 'DEBIT', '1', '300.00'),
    row('12,REFUND_REVERSE', 'CREDIT', '1', '300.00'),
    row('13,REFUND', 'DEBIT', '2', '300.00'),
    row('14,REFUND_REVERSAL', 'CREDIT', '2', '100.00'),
  ]
  const path = 'gateway_b/statement?lender=LENDER_02'
  t.match(await uploadStatement(url, path, report.join('\n')), { body: { valid_rows: 4 } })
  const [ofPayments = []] = await answersAboutRefunds(db)
  matchEach(t, ofPayments, [{ gateway_payment_id: '2', refunded: '200.00' }])
})

t.test('a refund of a report that names no payments is found by its own id', async t => {
  const { db, url, loan, webhook, batch } = await paymentService(t)
  await loan('L-1')
  await webhook('gateway_a', capturedA({ id: 'pay_1', loan: 'L-1' }), { lender: 'LENDER_02' })
  await batch()
  await webhook('gateway_a', refundA({ id: 'rfnd_1', of: 'pay_1' }), { lender: 'LENDER_02' })
  await batch()
  const row = (id: string) =>
    `refund,${id},1000.00,INR,0,0,1000.00,0,06/02/2026 10:00:00,setl_1,07/02/2026 12:00:00,UTR1`
  const report = `transaction_entity,entity_id,amount,currency,fee (exclusive tax),tax,debit,credit,entity_created_at,settlement_id,settled_at,settlement_utr
${row('rfnd_1')}\n${row('rfnd_lost')}`
  const path = 'gateway_a/statement?lender=LENDER_02'
  t.match(await uploadStatement(url, path, report), { body: { valid_rows: 2 } })
  const [, ofNone = []] = await answersAboutRefunds(db)
  matchEach(t, ofNone, [{ refund: 'rfnd_lost', lender: 'LENDER_02', settlement_id: 'setl_1' }])
})

/** What the page for finance has people ask: the payments with lost refunds, and the refunds of no known payment. */
async function answersAboutRefunds(db: Database): Promise<unknown[][]> {
  const page = readFileSync(new URL('../docs/reconciliation.md', import.meta.url), 'utf8')
  const answers: unknown[][] = []
  for (const [, query = ''] of page.matchAll(/```sql\n([^`]*settlement_part[^`]*)```/g))
    answers.push((await sql.raw(query).execute(db)).rows)
  return answers
}

async function addSource(db: Database) {
  await sql`select raw.make_store('LENDER_02', 'gateway_a')`.execute(db)
  await sql`select raw.register('lender_02_gateway_a')`.execute(db)
}

/** Operations with an attempt, payments, migrated rows and audit entries from a month ago. */
function addFinished(db: Database) {
  return sql`
    with n as (
      select n, raw.new_id() as id, now() - interval '30 days' as at from generate_series(1, ${FINISHED}::integer) n
    ), operation as (
      insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, attempt, response,
        accepted_at, processed_at)
      select id, 'CLIENT_CREATE', (array['api', 'payment', 'migration'])[n % 3 + 1], 'client:' || n, n, '{}',
             case when n % 100 = 0 then 'failed' else 'success' end, 1, '{}', at, at
        from n
    ), attempt as (
      insert into loanops.operation_attempt (operation_id, attempt, started_at, ended_at, outcome)
      select id, 1, at, at, 'done' from n
    ), payment as (
      insert into core.transaction (gateway, kind, gateway_payment_id, lender, is_captured, is_verified, state, source,
        raw_id, received_at, paid_at, posted_at, operation_id)
      select 'gateway_a', 'payment', n, 'LENDER_02', true, true, 'posted', 'lender_02_gateway_a', id, at, at, at, id
        from n
    ), callback as (
      insert into loanops.callback (id, type, subject, about, occurred_at, state, sequence, body, created_at)
      select id, 'payment.posted', 'loan:' || n, id, at, 'delivered', 1, '{}', at + n * interval '1 second' from n
    ), sent as (
      insert into loanops.callback_attempt (callback_id, attempt, started_at, ended_at) select id, 1, at, at from n
    ), migration as (
      insert into loanops.migration (id, type, columns, delimiter, status)
      select id, 'loans', '{}', ',', 'completed' from n where n = 1
    ), migrated as (
      insert into loanops.migration_row (migration_id, line, cells, state)
      select (select id from n where n = 1), n, '[]', 'done' from n
    )
    insert into loanops.audit (id, at, actor, action, subject) select id, at, 'asha', 'account.disable', n
     from n`.execute(db)
}
