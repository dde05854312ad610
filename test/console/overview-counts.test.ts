import { sql } from 'kysely'
import t from 'tap'
import { startWithConsole } from '../support/console/console.ts'
import { submit } from '../support/engine/operations.ts'
import { clientData } from '../support/ledger/loans.ts'

t.test('the operations under way are listed without those that wait', async t => {
  const { call, operator } = await startWithConsole(t, { ROLE: 'api' })
  const first = await submit(call, 'CLIENT_CREATE', clientData('C-1'))
  const second = await submit(call, 'CLIENT_UPDATE', { externalId: 'C-1', lastname: 'Rao' })
  const { text } = await operator('/console')
  const [, href = ''] = /href="([^"]+)" aria-label="under way: 1"/.exec(text) ?? []
  const list = await operator(href)
  const pathOf = (id: string) => `/console/operations/${encodeURIComponent(id)}`
  t.ok(list.text.includes(pathOf(first)), 'the one that is about to start')
  t.notOk(list.text.includes(pathOf(second)), 'the one that waits for it')
  t.match(list.text, '<strong>1 row</strong>')
})

t.test('money that is held is not added to the refunds of what is posted', async t => {
  const { db, operator } = await startWithConsole(t, { ROLE: 'api' })
  await sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, of_payment_id, lender, is_captured, is_verified, state, reason,
      suspended_at, source, raw_id, received_at, amount, currency)
    select 'gateway_a', kind, kind, of, 'LENDER_02', true, true, 'suspense', 'refund', now(), 'lender_02_gateway_a', raw.new_id(),
           now(), amount, 'INR'
      from (values ('payment', null, 300), ('refund', 'pay_posted', 70)) held (kind, of, amount)`.execute(
    db,
  )
  t.match(
    (await operator('/console/payments')).text,
    'refund <small>INR 300.00, refunds of INR 70.00',
  )
})
