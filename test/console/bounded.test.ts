import { type RawBuilder, sql } from 'kysely'
import t from 'tap'
import { listCallbacks } from '../../src/callbacks/find-callbacks.ts'
import { failuresByReason } from '../../src/console/operations/failures.ts'
import { somePayments } from '../../src/console/payments/some-payments.ts'
import { clientOf } from '../../src/console/timeline/client-of.ts'
import type { Database } from '../../src/database/database.ts'
import { listOperations, someMatching } from '../../src/operations/reading/find-operations.ts'
import { findPayments } from '../../src/payments/reading/find-payments.ts'
import { buffersOf } from '../support/database/buffers.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'

const HISTORY = 20_000
/** What one loan has of it. */
const OF_THE_LOAN = 5_000
const FAILED = 4_000
/** The console counts no further. */
const MAX_COUNTED = 1_001
/** A count and a little more: the smallest group that a filter must not search has thrice as many. */
const MAX_ROWS = 1_200
const ZONE = 'Asia/Kolkata'
const limit = 50
/** The history's days, and the whole of it. */
const MONTH = { from: '2026-03-01', to: '2026-03-31' }
const YEAR = { from: '2026-01-01', to: '2026-12-31' }

t.test('no list or count of the console scans a history to show a few rows', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  await addHistory(db)
  const failedOfType = { status: 'failed', operation_type: 'LOAN_CLOSE' }
  const period = { from: '2026-01-01T00:00:00Z', to: '2026-02-28T00:00:00Z' }
  const looks: Record<string, (db: Database) => Promise<unknown>> = {
    'a month of posted payments': db =>
      findPayments(db, { ...MONTH, state: 'posted', limit }, ZONE),
    'their count': db => counted(db, somePayments({ ...MONTH, state: 'posted' }, ZONE)),
    'a year of failed payments': db => findPayments(db, { ...YEAR, state: 'failed', limit }, ZONE),
    'their count, of one gateway': db =>
      counted(db, somePayments({ ...YEAR, state: 'failed', gateway: 'gateway_b' }, ZONE)),
    'the count of what succeeded': db =>
      counted(db, someMatching({ status: 'success' }, MAX_COUNTED)),
    'failures of a type that has none': db => listOperations(db, { ...failedOfType, limit }),
    'why they failed': async db => void (await failuresByReason(db, failedOfType)),
    'the client of a loan with a long history': db => clientOf(db, 'HOT'),
    'what has an unknown outcome among the unfinished': db =>
      listOperations(db, { waiting_for: 'outcome_unknown', limit }),
    'reversals among repayments': db =>
      listOperations(db, { operation_type: 'REPAYMENT_REVERSAL', limit }),
    'pending callbacks where all are delivered': db =>
      listCallbacks(db, { state: 'pending', limit: 1 }),
    'those of a long period': db =>
      listCallbacks(db, { state: 'pending', from: period.from, limit: 1 }),
    'callbacks of a rare type': db => listCallbacks(db, { type: 'payment.objected', limit }),
    'callbacks of an old period': db => listCallbacks(db, { ...period, limit }),
  }
  for (const [what, run] of Object.entries(looks)) {
    const touched = await buffersOf(ownerUrl, run)
    t.ok(touched.length > 0, what)
    for (const { rows, statement } of touched)
      t.ok(rows <= MAX_ROWS, `${what} reads ${rows} rows: ${statement}`)
  }
})

const counted = (db: Database, some: RawBuilder<unknown>) =>
  sql`select count(*) from (${some} limit ${MAX_COUNTED}) found`.execute(db)

/** Tens of thousands of posted payments and operations that ended, among which almost nothing else is; and a backlog. */
async function addHistory(db: Database): Promise<void> {
  await sql`
    with n as (
      select n, raw.new_id() as id, timestamptz '2026-01-01' + n * interval '15 minutes' as at
        from generate_series(1, ${HISTORY}::integer) n
    ), payment as (
      insert into core.transaction (gateway, kind, gateway_payment_id, lender, is_captured, is_verified, state, source, raw_id,
        received_at, paid_at, posted_at)
      select 'gateway_' || case n % 2 when 0 then 'a' else 'b' end, 'payment', n, 'LENDER_02', true, true, 'posted',
             'lender_02_gateway_a', id, at, at, at
        from n
    ), callback as (
      insert into loanops.callback (type, subject, about, occurred_at, state, sequence, body, created_at)
      select 'payment.posted', 'loan:' || n, id, at, 'delivered', 1, '{}', at from n
    )
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, attempt, response,
      accepted_at, processed_at)
    select raw.new_id(), 'REPAYMENT', 'payment', 'loan:P' || n, 'P' || n, '{}'::json, 'success', 1, '{}'::json, at, at from n
    union all
    select id, 'LOAN_APPROVE', 'api', 'loan:' || n, case when n <= ${OF_THE_LOAN} then 'HOT' else n::text end, '{}',
           case when n between ${OF_THE_LOAN + 1} and ${OF_THE_LOAN + FAILED} then 'failed' else 'success' end, 1, '{}', at, at
      from n`.execute(db)
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, unknown_since)
    select raw.new_id(), 'LOAN_APPROVE', 'migration', 'loan:U' || n, n, '{}', case when n % 1000 = 0 then now() end
      from generate_series(1, ${FAILED}::integer) n`.execute(db)
  await sql`vacuum analyze`.execute(db)
}
