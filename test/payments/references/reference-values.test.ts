import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { upload } from '../../support/http/upload.ts'
import { paymentService } from '../../support/payments/payments.ts'

const NBSP = '\u00a0'

async function withValues(t: Test) {
  const service = await paymentService(t)
  const { db, url } = service
  return {
    ...service,
    /** @param value percent-encoded, as it stands in the path */
    put: (value: string, kind = 'virtual_account', loan = 'L-1') =>
      service.call('PUT', `/api/references/gateway_a/${kind}/${value}`, { external_loan_id: loan }),
    upload: async (...lines: string[]) => {
      const file = { name: 'references.csv', content: lines.join('\r\n') }
      const { errors, ...body } = (await upload(`${url}/api/references/upload`, file)).body
      return { ...body, errors: errors?.map(({ line, reason }: any) => `${line} ${reason}`) }
    },
    stored: async () => {
      const { rows } = await sql<{ said: string }>`
        select value || ' ' || external_loan_id as said from ops.reference
         order by value collate "C"`.execute(db)
      return rows.map(({ said }) => said)
    },
  }
}

t.test('a value may have any characters, percent-encoded in the path', async t => {
  const { put, call, stored } = await withValues(t)
  const values = ['a/b', '100%', 'a?b=c', 'a#b', 'a+b', 'a b', 'ऋण-१', '😀'.repeat(100), '...']
  for (const value of values) {
    const { status, body } = await put(encodeURIComponent(value))
    t.match({ status, body }, { status: 201, body: { value } }, value)
  }
  t.same((await stored()).sort(), values.map(value => `${value} L-1`).sort())
  for (const value of values)
    t.equal(
      (
        await call(
          'DELETE',
          `/api/references/gateway_a/virtual_account/${encodeURIComponent(value)}`,
        )
      ).status,
      204,
      value,
    )
  t.match(
    await put(encodeURIComponent('😀'.repeat(200))),
    { status: 400, body: { detail: /value has 400 characters, but at most 200 are allowed/ } },
    'too long',
  )
  for (const value of ['%00', '%0a', '%20', '%c2%a0'])
    t.equal((await put(value)).status, 400, value)
})

t.test('`.` and `..`, which every URL resolves, are no values', async t => {
  const { upload, stored } = await withValues(t)
  const rows = ['.', ' .. ', '...'].map(value => `gateway_a,order,${value},L-1`)
  t.match(await upload('gateway,kind,value,external_loan_id', ...rows), {
    errors: ['2 value is only dots', '3 value is only dots'],
  })
  t.same(await stored(), ['... L-1'])
})

t.test('blanks around a value and the case of a UPI id make no other reference', async t => {
  const { put, stored, call } = await withValues(t)
  t.match(await put(`%20va_1${encodeURIComponent(NBSP)}`), { status: 201, body: { value: 'va_1' } })
  t.equal((await put('va_1')).status, 200)
  t.equal((await put('ASHA@UPI', 'payer')).status, 201)
  t.match(await put('asha@upi', 'payer', 'L-2'), { status: 409, body: { detail: /L-1/ } })
  t.equal(
    (await put('VA_1', 'virtual_account', 'L-2')).status,
    201,
    'an id with other case is another',
  )
  t.same(await stored(), ['ASHA@UPI L-1', 'VA_1 L-2', 'va_1 L-1'])
  const { body } = await call('GET', '/api/references?loan=%20L-2%20')
  t.match(body.references, [{ value: 'VA_1' }], 'nor another loan')
  t.equal((await call('DELETE', '/api/references/gateway_a/payer/Asha%40Upi')).status, 204)
})

t.test('a file is read as spreadsheets save it', async t => {
  const { upload, stored } = await withValues(t)
  t.match(
    await upload(
      '\ufeffGateway;Kind;Value;External_loan_id;Valid_from;Valid_until',
      'gateway_a;virtual_account;"0011220061746877";L-1;05-Feb-2026;',
      `gateway_a;virtual_account;${NBSP}va_2 ;L-2;;`,
      'GATEWAY_A;virtual_account;va_3;L-3;;',
      'gateway_a;payer;ASHA@UPI;L-4;;',
      'gateway_a;payer;asha@upi;L-4;;31 December 2026',
      'gateway_a;payer;Asha@Upi;L-5;2027-01-01;',
      'gateway_a;payer;asha@UPI;L-6;2026-06-01;',
      ';;;;;',
    ),
    { rows: 7, errors: [/^4 gateway must be one of/, /^8 The value belongs to the loan L-4/] },
  )
  t.same(await stored(), ['0011220061746877 L-1', 'ASHA@UPI L-4', 'Asha@Upi L-5', 'va_2 L-2'])
})

/** One id in a thousand is issued so. */
const ROUNDED = { value: '111222006174680000', why: 'has only zeros after the 15 digits' }
const CHANGED = [
  ROUNDED,
  { value: '1.11222E+15', why: 'is in scientific notation' },
  { value: "'0011220061746877", why: 'begins with an apostrophe' },
  { value: '="0011220061746877"', why: 'is a formula' },
  { value: '1,112,220,061,746,877', why: 'has separators' },
  { value: '1112 2200 6174 6877', why: 'has blanks between its digits' },
  { value: '#N/A', why: 'is #N/A' },
  { value: 'NA', why: 'is NA, which stands for no value' },
  { value: 'order–1', why: 'has full-width characters or dashes' },
  { value: `va${NBSP}1`, why: 'contains an invisible character' },
]

t.test('a value that a spreadsheet has changed is refused', async t => {
  const { upload, stored } = await withValues(t)
  const cells = CHANGED.map(({ value }) => `"${value.replaceAll('"', '""')}"`)
  const { errors } = await upload(
    'gateway,kind,value,external_loan_id',
    ...cells.map(cell => `gateway_a,virtual_account,${cell},L-1`),
    'gateway_a,virtual_account,va_1,1.5E+10',
    ...['NA', '0', '-'].map((word, i) => `gateway_a,virtual_account,va_${i},${word}`),
  )
  t.equal(errors.length, CHANGED.length + 4)
  for (const [i, { why }] of CHANGED.entries()) {
    t.ok(errors[i].startsWith(`${i + 2} value ${why}`), errors[i])
    t.equal(errors[i].split(why).length, 2, 'it is said once')
  }
  t.match(errors.slice(CHANGED.length), [
    /external_loan_id is in scientific notation/,
    /external_loan_id is NA, which stands for no value/,
    /external_loan_id is 0, which stands for no value/,
    /external_loan_id is -, which stands for no value/,
  ])
  t.same(await stored(), [])
})

t.test('a call takes a value that ends in zeros, which its file refuses', async t => {
  const { put, stored } = await withValues(t)
  t.equal((await put(ROUNDED.value)).status, 201)
  t.same(await stored(), [`${ROUNDED.value} L-1`])
})

t.test('a call refuses a value changed by a spreadsheet, and can remove it', async t => {
  const { put, call, stored, db } = await withValues(t)
  for (const { value, why } of CHANGED.filter(one => one !== ROUNDED)) {
    const { status, body } = await put(encodeURIComponent(value))
    t.match({ status, path: body.errors?.[0].path }, { status: 400, path: '/value' }, value)
    t.ok(body.errors?.[0].message.startsWith(why), body.detail)
  }
  t.same(await stored(), [])
  await sql`
    insert into core.reference (gateway, kind, value, external_loan_id, created_by)
    values ('gateway_a', 'mandate', '1.5E+10', 'L-1', 'before')`.execute(db)
  t.equal((await call('DELETE', '/api/references/gateway_a/mandate/1.5E%2B10')).status, 204)
})
