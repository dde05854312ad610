import { sql } from 'kysely'
import t from 'tap'
import { copyConfirmation } from '../../src/payments/intake/event-job.ts'
import { paidB, withConfirm } from '../support/books/confirm.ts'

const B = 'gateway_b'
const SEVEN = { lender: 'LENDER_07' }

t.test('without confirm, what waited for it is judged again, but no confirmed payment', async t => {
  const { service, has, stateOf } = await withConfirm(t)
  const { webhook, batch, db, config } = service
  await has(B, '1')
  for (const id of ['1', '2']) await webhook(B, paidB(id), SEVEN)
  await batch()
  t.same(await stateOf('1'), ['posted', null, null])
  t.same(await stateOf('2'), ['suspense', 'not_at_gateway', null])
  await copyConfirmation(db, { gateways: config.gateways, lenders: new Map() })
  const { rows } = await sql<{ id: string }>`
    select gateway_payment_id as id from core.unjudged_payment`.execute(db)
  t.same(rows, [{ id: '2' }])
  await sql`select core.settle(${B}, array['2'], has_news => false)`.execute(db)
  t.same(await stateOf('2'), ['waiting', null, 'batch'])
})
