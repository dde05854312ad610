import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { startWithConsole } from '../support/console/console.ts'

const UNPROVED = 5_000

t.test('the page of a payment shows its proved refunds before a flood of others', async t => {
  const { db, viewer } = await startWithConsole(t, { ROLE: 'api' })
  await addRefunds(db)
  const { status, text } = await viewer('/console/payments/gateway_a/pay_1')
  t.equal(status, 200)
  t.match(text, /\/rfnd_proved\?/)
  t.match(text, /Only the first 100 are shown/)
  t.equal(text.match(/\/rfnd_\w+\?/g)?.length, 100)
})

/** A payment, refunds of it that nothing proves, and after them one that is proved. */
async function addRefunds(db: Database): Promise<void> {
  await sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, of_payment_id, lender, is_captured, is_verified, state, reason, source,
      raw_id, received_at)
    select 'gateway_a', kind, id, case kind when 'refund' then 'pay_1' end, 'LENDER_02', true, is_verified, 'suspense',
           case kind when 'refund' then kind else 'no_loan_named' end, 'lender_02_gateway_a', raw.new_id(), now()
      from (select 'payment', 'pay_1', true
            union all select 'refund', 'rfnd_' || n, false from generate_series(1, ${UNPROVED}::integer) n
            union all select 'refund', 'rfnd_proved', true) row (kind, id, is_verified)`.execute(db)
}
