import { sql } from 'kysely'
import t from 'tap'
import { startWithConsole } from '../support/console/console.ts'

t.test('the page of a settlement lists all of its payments, and says why it is wrong', async t => {
  const { db, viewer } = await startWithConsole(t, { ROLE: 'api' })
  await sql`
    insert into core.statement (gateway, gateway_payment_id, lender, amount, currency, status, captured_at, source)
    select 'gateway_a', id, 'LENDER_02', 1000, 'INR', 'captured', '2026-02-05T10:00:00Z', 'api'
      from unnest(array['pay_1', 'pay_2']) id`.execute(db)
  await sql`
    insert into core.settlement_row (gateway, settlement_id, kind, id, payment_id, amount, fee, tax, paid_out)
    select 'gateway_a', 'setl_1', 'payment', id, id, amount, 0, 0, amount
      from (values ('pay_1', 1001), ('pay_2', 999), ('pay_unfetched', 500)) row (id, amount)`.execute(
    db,
  )
  const { text } = await viewer('/console/settlements/setl_1')
  for (const id of ['pay_1', 'pay_2', 'pay_unfetched']) t.match(text, `/${id}`)
  t.match(text, /no: it has payments with other amounts than were reported before/)
})
