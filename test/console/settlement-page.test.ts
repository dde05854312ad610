import { sql } from 'kysely'
import t from 'tap'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { startWithConsole } from '../support/console/console.ts'

t.test(
  'the page of a settlement links to all of its payments, and says why it is wrong',
  async t => {
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
    for (const id of ['pay_1', 'pay_2', 'pay_unfetched'])
      t.match(text, `<a href="/console/payments/gateway_a/${id}">`)
    t.match(text, '<dt>Gross</dt><dd>INR 2,500.00</dd>')
    t.match(text, /no: it has payments with other amounts than were reported before/)
  },
)

t.test('a payment that only the list of its settlement has is found, and has a page', async t => {
  const { db, viewer } = await startWithConsole(t, { ROLE: 'api' })
  await sql`
    insert into core.settlement_row (gateway, settlement_id, kind, id, payment_id, amount, fee, tax, paid_out)
    values ('gateway_a', 'setl_1', 'payment', 'pay_unfetched', 'pay_unfetched', 500, 0, 0, 500)`.execute(
    db,
  )
  const page = '/console/payments/gateway_a/pay_unfetched'
  const unfetched = await viewer(page)
  t.equal(unfetched.status, 200)
  t.match(unfetched.text, 'Only its settlement’s list has this payment')
  t.match(unfetched.text, /500\.00.*<a href="\/console\/settlements\/setl_1">/s)
  for (const q of ['pay_unfetched', 'gateway_a/pay_unfetched'])
    t.equal((await viewer(`/console/search?q=${q}`)).headers.get('location'), page, q)
  t.equal((await viewer('/console/search?q=gateway_b/pay_unfetched')).status, 200)
})

t.test('the search finds a settlement whose only part went with a withdrawn report', async t => {
  const { url, call, viewer } = await startWithConsole(t, { ROLE: 'api' })
  const row =
    'pay_1,10.00,INR,captured,2026-02-05T10:00:00+05:30,1.00,0.18,setl_1,2026-02-07T12:00:00+05:30,UTR1'
  const upload = () =>
    uploadStatement(url, 'gateway_a/statement?lender=LENDER_02', [STATEMENT_HEADER, row].join('\n'))
  await upload()
  const { body } = await upload()
  await call('DELETE', `/api/gateways/gateway_a/statements/${body.statement_id}`)
  t.match((await call('GET', '/api/settlements?utr=UTR1')).body.settlements, [
    { settlement_id: 'setl_1' },
  ])
  for (const q of ['setl_1', 'UTR1']) {
    const { headers } = await viewer(`/console/search?q=${q}`)
    t.equal(headers.get('location'), '/console/settlements/setl_1', q)
  }
})

t.test('the search finds no settlement whose only part is in another one since', async t => {
  const { url, viewer } = await startWithConsole(t, { ROLE: 'api' })
  const report = (settlement: string, utr: string) =>
    `transaction_entity,entity_id,amount,currency,fee,tax,debit,credit,entity_created_at,settlement_id,settled_at,settlement_utr
payment,pay_1,10.00,INR,1.00,0.18,0.0,8.82,2026-02-05T10:00:00,${settlement},2026-02-07T12:00:00,${utr}`
  for (const text of [report('setl_1', 'UTR1'), report('setl_2', 'UTR2')])
    await uploadStatement(url, 'gateway_a/statement?lender=LENDER_02', text)
  const found = async (q: string) =>
    (await viewer(`/console/search?q=${q}`)).headers.get('location')
  t.same([await found('setl_1'), await found('UTR1')], [null, null])
  t.equal(await found('UTR2'), '/console/settlements/setl_2')
})
