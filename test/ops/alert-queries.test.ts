import { sql } from 'kysely'
import t from 'tap'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { rules } from '../support/ops/alerts.ts'

const REASONS = ['outcome_unknown', 'ledger_approval', 'ledger_credentials', 'ledger_unavailable']
const ABOUT_ALL = ['LoanopsLedgerDown', 'LoanopsUnanswered']

t.test('the query of an alert about what waits finds a payment that waits so', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    with operation as (
      insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, attempt, waiting_for,
        unknown_since, last_error)
      select raw.new_id(), 'REPAYMENT', 'payment', 'loan:' || reason, reason, '{}', 'processing', 1,
             nullif(reason, 'outcome_unknown'), case reason when 'outcome_unknown' then now() end, 'why'
        from unnest(${REASONS}::text[]) reason
      returning id, external_id
    )
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, is_captured, is_verified, state, source, raw_id,
      received_at, operation_id)
    select 'gateway_a', 'payment', 'pay_' || external_id, 'LENDER_02', true, true, 'posting', 'lender_02_gateway_a', id, now(), id
      from operation`.execute(db)
  for (const { alert, expr, annotations } of rules) {
    const [about = ''] = expr.split('unless')
    const [, reason] = /waiting_for="(\w+)"/.exec(about) ?? []
    if (reason === undefined && !ABOUT_ALL.includes(alert)) continue
    const { rows } = await sql.raw<object>(annotations.query).execute(db)
    t.equal(rows.length, reason === undefined ? REASONS.length : 1, alert)
  }
})
