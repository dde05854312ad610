import { sql } from 'kysely'
import t from 'tap'
import { startWithConsole } from '../support/console/console.ts'

t.test('the page of a payment that is no longer retried does not say that it is', async t => {
  const { db, operator } = await startWithConsole(t, { ROLE: 'api' })
  await sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, is_captured, is_verified, state, reason,
      refused_reason, suspended_at, source, raw_id, received_at, amount, currency)
    select 'gateway_a', 'payment', 'pay_' || reason, 'LENDER_02', true, true, 'suspense', reason, reason,
           now() - interval '8 days', 'lender_02_gateway_a', raw.new_id(), now() - interval '8 days', 100, 'INR'
      from unnest(array['loan_unknown', 'loan_not_active', 'ledger_refused']) reason`.execute(db)
  for (const reason of ['loan_unknown', 'loan_not_active', 'ledger_refused']) {
    const { text } = await operator(`/console/payments/gateway_a/pay_${reason}`)
    t.match(text, 'It is retried while a next try is shown')
    t.notMatch(text, '<dt>Next try</dt>')
  }
})
