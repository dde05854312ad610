import { sql } from 'kysely'
import t from 'tap'
import { sendFile, startWithConsole } from '../support/console/console.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { LENDER, withLedger } from '../support/payments/payments.ts'

const PATH = '/console/references'

t.test('operators register, see and remove references in the console', async t => {
  const service = withLedger(await startWithConsole(t))
  const { operator, viewer, db } = service
  const name = { gateway: 'gateway_a', kind: 'order', value: 'order_1' }
  const added = await operator(`${PATH}/add`, { ...name, external_loan_id: 'L-1' })
  t.equal(added.status, 303)
  t.match((await operator(added.headers.get('location') ?? '')).text, /The reference is registered/)
  t.match((await viewer(`${PATH}?loan=L-1`)).text, /order_1/)
  t.match((await operator(PATH)).text, /<label>Loan<input name="external_loan_id"/)
  t.notMatch((await viewer(PATH)).text, /references\/add/, 'who only looks gets no form')
  t.equal((await viewer(`${PATH}/add`, { ...name, external_loan_id: 'L-1' })).status, 403)
  t.match((await operator(`${PATH}.csv`)).text, /order_1/)
  const refused = await operator(`${PATH}/add`, { ...name, external_loan_id: 'L-2' })
  t.equal(refused.status, 409)
  t.match(refused.text, /belongs to the loan L-1/)
  for (const q of ['order_1', 'L-1']) {
    const { headers } = await operator(`/console/search?q=${q}`)
    t.equal(headers.get('location'), '/console/loans/L-1', `the only hit of ${q}`)
  }
  t.match((await operator('/console/loans/L-1')).text, /reference/, 'its timeline shows it')
  t.equal((await operator(`${PATH}/remove`, name)).status, 303)
  t.same((await sql`select from ops.reference`.execute(db)).rows, [])
})

t.test('a file is uploaded in the console, and its invalid rows are named', async t => {
  const service = await startWithConsole(t)
  const send = (...lines: string[]) => {
    const text = ['gateway,kind,value,external_loan_id', ...lines, ''].join('\n')
    const file = new File([text], 'references.csv')
    return sendFile(service, { page: PATH, path: `${PATH}/upload` }, {}, file)
  }
  t.equal((await send('gateway_a,order,order_1,L-1')).status, 303)
  const { status, text } = await send('gateway_a,order,order_1,L-2', 'gateway_a,order,order_2,L-2')
  t.equal(status, 400)
  t.match(text, /1 of 2 rows are registered.*<li>Line 2: The value belongs to the loan L-1/s)
  t.match((await service.operator(`${PATH}/template.csv`)).text, /^gateway,kind,value/)
  t.match(
    (await service.operator('/console/audit')).text,
    /<a href="\/console\/references">references.csv</,
  )
})

t.test('an export of references can be uploaded as it is', async t => {
  const service = await startWithConsole(t)
  const { operator, db } = service
  const send = (text: string) =>
    sendFile(service, { page: PATH, path: `${PATH}/upload` }, {}, new File([text], 'r.csv'))
  const stored = async () =>
    (
      await sql`
        select gateway, kind, value, external_loan_id, valid_from::text, valid_until::text
         from ops.reference order by value`.execute(db)
    ).rows
  const header = 'gateway,kind,value,external_loan_id,valid_from,valid_until'
  const rows = ['gateway_a,order,order_1,L-1,2026-02-05,2026-12-31', 'gateway_b,payer,+a@upi,L-2,,']
  t.equal((await send([header, ...rows, ''].join('\n'))).status, 303)
  const before = await stored()
  const { text } = await operator(`${PATH}.csv`)
  await sql`delete from core.reference`.execute(db)
  t.equal((await send(text)).status, 303)
  t.same(await stored(), before)
  t.equal(before.length, rows.length)
})

t.test('an assignment in the console remembers what others wait with', async t => {
  const service = withLedger(await startWithConsole(t))
  const { operator, webhook, batch } = service
  await service.loan('L-1')
  for (const id of ['pay_1', 'pay_2', 'pay_3'])
    await webhook('gateway_a', capturedA({ id, payment: { token_id: 'token_1' } }), LENDER)
  await batch()
  const page = '/console/payments/gateway_a/pay_1'
  t.match((await operator(page)).text, /remember mandate token_1.*2 more payments wait with it/)
  const form = { external_loan_id: 'L-1', remember_mandate: 'true' }
  t.equal((await operator(`${page}/assign`, form)).status, 303)
  await batch()
  for (const id of ['pay_1', 'pay_2', 'pay_3'])
    t.equal((await service.payment(id)).payment.state, 'posted', id)
  t.match((await operator('/console/search?q=token_1')).text, /payments\/gateway_a\/pay_2/)
})
