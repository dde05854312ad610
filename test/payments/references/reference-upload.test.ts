import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { upload } from '../../support/http/upload.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { LENDER, paymentService } from '../../support/payments/payments.ts'

const HEADER = 'gateway,kind,value,external_loan_id,valid_from,valid_until'

async function withUpload(t: Test) {
  const service = await paymentService(t)
  const uploadLines = (...lines: string[]) => {
    const content = [HEADER, ...lines, ''].join('\n')
    return upload(`${service.url}/api/references/upload`, { name: 'references.csv', content })
  }
  const stored = async () => {
    const { rows } = await sql<{ said: string }>`
      select concat_ws(' ', kind, value, external_loan_id, valid_from, valid_until) as said
        from ops.reference order by 1`.execute(service.db)
    return rows.map(({ said }) => said)
  }
  return { ...service, upload: uploadLines, stored }
}

t.test('an upload refuses a query that it does not know, and stores nothing', async t => {
  const { url, stored } = await withUpload(t)
  const content = `${HEADER}\ngateway_a,virtual_account,va_1,L-1,,\n`
  for (const path of [
    'references/upload?',
    'migration/upload?',
    'gateways/gateway_a/statement?lender=LENDER_02&',
  ])
    t.match(await upload(`${url}/api/${path}dry_run=true`, { name: 'a.csv', content }), {
      status: 400,
      body: { code: 'INVALID_QUERY', errors: [{ path: '/dry_run' }] },
    })
  t.same(await stored(), [])
})

t.test('a file’s valid rows are stored, and its invalid ones named with their lines', async t => {
  const { upload, stored, call, db } = await withUpload(t)
  await call('PUT', '/api/references/gateway_a/mandate/token_9', { external_loan_id: 'L-9' })
  const { status, body } = await upload(
    'gateway_a,virtual_account,va_1,L-1,,',
    'gateway_a,mandate,token_9,L-1,,',
    'gateway_a,receipt,r_1,L-1,,',
    'gateway_a,virtual_account,1.11212E+15,L-1,,',
    'gateway_a,virtual_account,va_2,L-1,2026-02-05,2026-02-01',
    'gateway_a,virtual_account,va_3,L-1,05 February 2026,2026-03-05',
    'gateway_a,virtual_account,VA_3,L-2,,',
    'gateway_a,virtual_account,va_3,L-2,2026-03-06,',
    'gateway_a,virtual_account,va_1,L-1,2026-02-05,',
    'gateway_x,virtual_account,va_4,L-1,,',
    'gateway_a,virtual_account,va_5,,,',
    'gateway_a,virtual_account,va_6,L-1,0206-02-05,2026-02-30',
  )
  t.equal(status, 201)
  t.match(body, { rows: 12, valid_rows: 5, invalid_rows: 7 })
  t.match(
    body.errors.map(({ line, reason }: any) => `${line} ${reason}`),
    [
      /^3 The value belongs to the loan L-9/,
      /^4 kind must be one of/,
      /^5 value is in scientific notation/,
      /^6 valid_until must not be before valid_from/,
      /^11 gateway must be one of/,
      /^12 external_loan_id is required/,
      /^13 valid_from must be a valid date[^;]*; valid_until must be a valid date[^;]*$/,
    ],
  )
  t.same(
    await stored(),
    [
      'mandate token_9 L-9',
      'virtual_account va_1 L-1 2026-02-05',
      'virtual_account VA_3 L-2',
      'virtual_account va_3 L-1 2026-02-05 2026-03-05',
      'virtual_account va_3 L-2 2026-03-06',
    ].sort(),
  )
  const { rows } = await sql`
    select subject, detail from ops.audit where action = 'reference.upload'`.execute(db)
  t.match(rows, [{ subject: 'references.csv', detail: { rows: 12, valid_rows: 5 } }])
})

t.test('a year of two digits is in this century, however far ahead', async t => {
  const { upload, stored } = await withUpload(t)
  const { body } = await upload(
    'gateway_a,mandate,token_1,L-1,5-Feb-26,31-Dec-99',
    'gateway_a,mandate,token_2,L-1,,05/MAR/31',
    'gateway_a,mandate,token_3,L-1,1 January 2026,29\u00a0February\u00a028',
  )
  t.same(body.errors, [])
  t.same(await stored(), [
    'mandate token_1 L-1 2026-02-05 2099-12-31',
    'mandate token_2 L-1 2031-03-05',
    'mandate token_3 L-1 2026-01-01 2028-02-29',
  ])
})

t.test('the template can be uploaded as it is, and another kind of file is refused', async t => {
  const { upload, call } = await withUpload(t)
  const { body: template } = await call('GET', '/api/references/template.csv')
  const [header, ...rows] = String(template).trim().split('\r\n')
  t.equal(header, HEADER)
  t.match(await upload(...rows), { status: 201, body: { valid_rows: 1, invalid_rows: 0 } })
  t.match(await upload(), { status: 400, body: { detail: /no rows/ } })
})

t.test('virtual accounts that a spreadsheet rounded to 15 digits are given to no loan', async t => {
  const { upload, stored } = await withUpload(t)
  const row = (value: string, loan: string, days = ',') =>
    `gateway_a,virtual_account,${value},${loan},${days}`
  const all = await upload(row('2223330029215300', 'L-1'), row('2223330029215310', 'L-2'))
  t.match(all.body, { valid_rows: 0, errors: [{ line: 2 }, { line: 3 }] })
  for (const { reason } of all.body.errors)
    t.match(reason, /^value ends in 0, .*so do all in this column: format the column as text/)
  const some = await upload(
    row('2223330029215301', 'L-1'),
    row('2223330029215300', 'L-2'),
    row('2223330029215300', 'L-3'),
    row('2223330029215310', 'L-4', '2026-01-01,2026-01-31'),
    row('2223330029215310', 'L-5', '2026-02-01,'),
    row('2223330029215320', 'L-6'),
    row('2223330029215320', 'L-6'),
    row('222333002921530000', 'L-7'),
  )
  t.match(some.body.errors, [
    { line: 3, reason: /^value ends in 0, .*another loan has it in this file, too: format/ },
    { line: 4, reason: /^value ends in 0, .*another loan has it in this file, too: format/ },
    {
      line: 9,
      reason: /^value has only zeros after the 15 digits that a spreadsheet keeps: format/,
    },
  ])
  t.same(await stored(), [
    'virtual_account 2223330029215301 L-1',
    'virtual_account 2223330029215310 L-4 2026-01-01 2026-01-31',
    'virtual_account 2223330029215310 L-5 2026-02-01',
    'virtual_account 2223330029215320 L-6',
  ])
})

t.test('an uploaded reference releases what waits for it', async t => {
  const service = await withUpload(t)
  await service.loan('L-1')
  const event = capturedA({ id: 'pay_1', payment: { order_id: 'order_1' } })
  await service.webhook('gateway_a', event, LENDER)
  await service.batch()
  await service.upload('gateway_a,order,order_1,L-1,,')
  await service.batch()
  t.match((await service.payment('pay_1')).payment, { state: 'posted', matched_by: 'order' })
})

t.test('an assignment remembers the payment’s own references for its next payments', async t => {
  const service = await withUpload(t)
  const { call, stored, webhook, batch } = service
  for (const loan of ['L-1', 'L-2']) await service.loan(loan)
  const event = (id: string) =>
    capturedA({ id, payment: { order_id: `order_${id}`, token_id: 'token_1', vpa: 'asha@upi' } })
  await webhook('gateway_a', event('pay_1'), LENDER)
  await webhook('gateway_a', event('pay_3'), LENDER)
  await batch()
  const path = (id: string) => `/api/payments/gateway_a/${id}/assign`
  const body = { external_loan_id: 'L-1', remember: ['mandate', 'payer'] }
  const misspelt = await call('POST', path('pay_1'), { ...body, remember: ['mandates'] })
  t.match(misspelt, { status: 400, body: { detail: /\(virtual_account, mandate, / } })
  const alsoNone = { ...body, remember: [...body.remember, 'virtual_account'] }
  t.equal((await call('POST', path('pay_1'), alsoNone)).status, 200, 'a kind with none is skipped')
  t.same(await stored(), ['mandate token_1 L-1', 'payer asha@upi L-1'])
  const other = await call('POST', path('pay_3'), { ...body, external_loan_id: 'L-2' })
  t.equal(other.status, 409, 'the mandate belongs to another loan')
  await webhook('gateway_a', event('pay_2'), LENDER)
  await batch()
  for (const [id, by] of [
    ['pay_1', 'operator'],
    ['pay_2', 'mandate'],
    ['pay_3', 'mandate'],
  ] as const)
    t.match((await service.payment(id)).payment, {
      state: 'posted',
      external_loan_id: 'L-1',
      matched_by: by,
    })
})

t.test('an assignment does not remember beyond the days that its loan has the value', async t => {
  const service = await withUpload(t)
  const { call, upload, webhook, batch } = service
  await service.loan('L-1')
  await upload('gateway_a,mandate,token_1,L-1,2026-01-01,2026-01-31')
  await webhook('gateway_a', capturedA({ id: 'pay_1', payment: { token_id: 'token_1' } }), LENDER)
  await batch()
  const assign = (remember: string[]) =>
    call('POST', '/api/payments/gateway_a/pay_1/assign', { external_loan_id: 'L-1', remember })
  t.match(await assign(['mandate']), {
    status: 409,
    body: { detail: /mandate only from 2026-01-01 until 2026-01-31/ },
  })
  t.match(await service.payment('pay_1'), { payment: { state: 'suspense' } })
  t.equal((await assign([])).status, 200)
})

t.test('an assignment does not remember a word for no value', async t => {
  const { call, loan, stored, webhook, batch } = await withUpload(t)
  await loan('L-1')
  const words = ['NA', 'NaN', '#NULL!']
  for (const token_id of words)
    await webhook('gateway_a', capturedA({ id: `pay_${token_id}`, payment: { token_id } }), LENDER)
  await batch()
  const body = { external_loan_id: 'L-1', remember: ['mandate'] }
  for (const word of words)
    t.match(
      await call(
        'POST',
        `/api/payments/gateway_a/${encodeURIComponent(`pay_${word}`)}/assign`,
        body,
      ),
      {
        status: 409,
        body: {
          detail: `The mandate ${word} is a placeholder, not an id: leave mandate out of remember`,
        },
      },
    )
  t.same(await stored(), [])
})

t.test('a file with the same value in each row is refused without a statement per row', async t => {
  const { upload, stored } = await withUpload(t)
  const rows = Array.from({ length: 900 }, (_, n) => {
    const day = new Date(Date.UTC(2020, 0, 1 + n)).toISOString().slice(0, 10)
    return `gateway_a,virtual_account,va_1,L-${n},${day},${day}`
  })
  const { body } = await upload(...rows)
  t.match(body, { rows: 900, valid_rows: 20, invalid_rows: 880 })
  t.match(body.errors[0], { line: 22, reason: /^The file repeats this value more than 20 times/ })
  t.equal((await stored()).length, 20)
})
