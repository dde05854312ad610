import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { fetchAll, gatewaySandbox, PAID_AT } from '../support/books/gateways.ts'
import { DAY, filled, reconciliation } from '../support/books/reconciliation.ts'
import {
  STATEMENT_HEADER as HEADER,
  uploadStatement as upload,
} from '../support/books/statements.ts'
import { waitingTransaction } from '../support/database/locks.ts'
import { textOf } from '../support/portfolio/migrate.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** The tests that look at the answer to a file alone share this service. */
const service = await startTestService(t, { ROLE: 'api' })

t.test('the valid rows of a file are kept, and each of the others has its reason', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const rows = [
    'pay_1,1000.50,INR,captured,2026-02-05T23:00:00Z,10.00,1.80,setl_1,2026-02-07T10:00:00Z,UTR1',
    'pay_2,7.00,INR,failed,2026-02-08T10:00:00+05:30,,,,,',
    'pay_3,-1,inr,gone,2026-02-30T10:00:00Z,x,,,,',
    'pay_1,2.00,INR,captured,2026-02-05T10:00:00Z,,,,,',
    'pay_4,2.00',
    '1.5E+11,2.00,INR,captured,2026-03-05T10:00:00Z,,,,,',
  ]
  const { status, body } = await upload(
    service.url,
    'gateway_a/statement?lender=LENDER_02',
    [HEADER, ...rows].join('\n'),
  )
  t.equal(status, 201, JSON.stringify(body))
  t.match(body, { rows: 6, valid_rows: 2, invalid_rows: 4 })
  t.match(body.errors, [
    {
      line: 4,
      reason:
        /amount must be a number above 0.*currency must.*status must.*captured_at must.*fee must/,
    },
    { line: 5, reason: 'gateway_payment_id repeats that of line 2' },
    { line: 6, reason: /2 cells/ },
    { line: 7, reason: /scientific notation/ },
  ])
  const { rows: kept } = await sql<object>`
    select gateway_payment_id as id, lender, amount::text, status, source, fee::text, utr from ops.statement
     order by 1`.execute(service.db)
  t.same(kept, [
    {
      id: 'pay_1',
      lender: 'LENDER_02',
      amount: '1000.50',
      status: 'captured',
      source: 'file',
      fee: '10.00',
      utr: 'UTR1',
    },
    {
      id: 'pay_2',
      lender: 'LENDER_02',
      amount: '7.00',
      status: 'failed',
      source: 'file',
      fee: null,
      utr: null,
    },
  ])
  const { rows: settlements } = await sql<object>`
    select settlement_id, utr, payments::integer, net::text, adds_up
     from ops.settlement`.execute(service.db)
  t.same(settlements, [
    { settlement_id: 'setl_1', utr: 'UTR1', payments: 1, net: '988.70', adds_up: true },
  ])
  const { rows: windows } = await sql<object>`
    select lower(covers) as "from", upper(covers) as "to", lender, source, is_partial from core.gateway_window
     order by 1`.execute(service.db)
  // The days are India's, where it was past midnight when the first one was paid. The row of line 5 is of the day
  // before.
  t.same(windows, [
    {
      from: new Date('2026-02-04T18:30:00Z'),
      to: new Date('2026-02-06T18:30:00Z'),
      lender: 'LENDER_02',
      source: 'file',
      is_partial: true,
    },
    {
      from: new Date('2026-02-07T18:30:00Z'),
      to: new Date('2026-02-08T18:30:00Z'),
      lender: 'LENDER_02',
      source: 'file',
      is_partial: true,
    },
    {
      from: new Date('2026-03-04T18:30:00Z'),
      to: new Date('2026-03-05T18:30:00Z'),
      lender: 'LENDER_02',
      source: 'file',
      is_partial: true,
    },
  ])
})

t.test('a row without one of the required values is refused alone', async t => {
  const good = ['pay_1', '7.00', 'INR', 'captured', '2026-02-05T10:00:00Z']
  const required = HEADER.split(',').slice(0, good.length)
  const rows = [good, ...good.map((_, at) => good.with(at, ''))].map(row => `${row},,,,,`)
  const path = 'gateway_a/statement?lender=LENDER_02'
  const { status, body } = await upload(service.url, path, [HEADER, ...rows].join('\n'))
  t.match({ status, ...body }, { status: 201, valid_rows: 1 })
  t.same(
    body.errors,
    required.map((name, at) => ({ line: at + 3, reason: `${name} is required` })),
  )
  const settlements = 'entity_id,type,amount,currency,created_at,settlement_id,settlement_utr'
  const parts = ['rfnd_1,refund,7,INR,2026-02-05,setl_1,1', 'rfnd_2,refund,,INR,,setl_1,1']
  const { body: parted } = await upload(service.url, path, [settlements, ...parts].join('\n'))
  t.match(parted.errors, [{ line: 3, reason: 'amount is required' }])
})

t.test('an id that is `.` or `..`, which every URL resolves, is an error of its row', async t => {
  const rest = '2.00,INR,captured,2026-03-05T10:00:00Z,,'
  const rows = [`..,${rest},,,`, `pay_dots,${rest},. ,,1`, `pay_more,${rest},,,`]
  const path = 'gateway_a/statement?lender=LENDER_02'
  const { body } = await upload(service.url, path, [HEADER, ...rows].join('\n'))
  t.same(body.errors, [
    { line: 2, reason: 'gateway_payment_id is only dots' },
    { line: 3, reason: 'settlement_id is only dots' },
  ])
})

t.test('an id or UTR that a spreadsheet damaged is an error of its row', async t => {
  const rest = '2.00,INR,captured,2026-03-05T10:00:00Z,,,'
  const rows = [
    `1453500001.0,${rest}setl_1,,402345678901`,
    `"1,453,002,004",${rest}setl_1,,402345678901`,
    `'1453500002,${rest}setl_1,,402345678901`,
    `pay_1,${rest}setl_1,,402345678901.0`,
    `pay_2,${rest}1 234,,402345678901`,
    `145350000123456000,${rest}setl_1,,402345678901`,
    `５１１４９１９６５５,${rest}setl_1,,402345678901`,
    `pay_3,${rest}setl–1,,402345678901`,
  ]
  const path = 'gateway_b/statement?lender=LENDER_02'
  const { body } = await upload(service.url, path, [HEADER, ...rows, `9,${rest},,`].join('\n'))
  t.match(body.errors, [
    { line: 2, reason: /^gateway_payment_id has a decimal point: format the column as text/ },
    { line: 3, reason: /^gateway_payment_id has separators/ },
    { line: 4, reason: /^gateway_payment_id begins with an apostrophe/ },
    { line: 5, reason: /^utr has a decimal point/ },
    { line: 6, reason: /^settlement_id has blanks/ },
    { line: 7, reason: /^gateway_payment_id has only zeros after the 15 digits/ },
    { line: 8, reason: /^gateway_payment_id has full-width characters or dashes/ },
    { line: 9, reason: /^settlement_id has full-width characters or dashes/ },
  ])
})

t.test('ids or UTRs of 16 digits that all end in 0 are errors of their rows', async t => {
  const rest = '2.00,INR,captured,2026-03-05T10:00:00Z,,'
  const rows = [
    `1453500001234560,${rest},,,4023456789012340`,
    `1453500001234570,${rest},,,4023456789012340`,
    `1453500001234,${rest},,,4023456789012340`,
  ]
  const path = 'gateway_b/statement?lender=LENDER_02'
  const { body } = await upload(service.url, path, [HEADER, ...rows].join('\n'))
  t.match(body, { valid_rows: 1 }, 'one UTR of a whole settlement is no evidence')
  t.match(body.errors, [
    { line: 2, reason: /^gateway_payment_id ends in 0, .* and so do all in this column/ },
    { line: 3, reason: /^gateway_payment_id ends in 0, .* and so do all in this column/ },
  ])
})

const PLAINLY =
  'without a currency, with at most 13 digits before the point and two after it, and with separators only if it has a point'

t.test('an amount with three decimals, a currency or separators alone is an error', async t => {
  const rest = 'INR,captured,2026-03-05T10:00:00Z'
  const rows = [
    `pay_1,500.000,${rest},,,,,`,
    `pay_2,500.00,${rest},5.000,0.9000,,,`,
    `pay_3,"1,000",${rest},,,,,`,
    `pay_4,₹1000,${rest},,,,,`,
    `pay_5,"1,000.00",${rest},,,,,`,
  ]
  const path = 'gateway_b/statement?lender=LENDER_02'
  const { body } = await upload(
    service.url,
    path,
    [HEADER, ...rows, `9,1,${rest},-5.00,1,,,`].join('\n'),
  )
  const reason = `amount must be a number above 0 ${PLAINLY}`
  t.same(body.errors, [
    { line: 2, reason },
    { line: 3, reason: `fee must be a number ${PLAINLY}; tax must be a number ${PLAINLY}` },
    { line: 4, reason },
    { line: 5, reason },
  ])
})

t.test('empty rows and columns of a statement are no data; made-up values are errors', async t => {
  const rows = [
    'sep=,',
    `${HEADER},,`,
    ',,,,,,,,,,,',
    'pay_1,1,INR,captured,2026-02-05T10:00:00Z,,,,,,,',
    'pay_2,1,INR,captured,2026-02-05T10:00:00Z,,,,,NULL,,',
    'pay_3,1,INR,captured,2026-02-05T10:00:00Z,#N/A,,,,,,',
  ]
  const path = 'gateway_b/statement?lender=LENDER_02'
  const { body } = await upload(service.url, path, `${rows.join('\n')}\n,,,\n\x1a`)
  t.match(body, {
    rows: 3,
    valid_rows: 1,
    ignored_columns: [],
    errors: [
      { line: 5, reason: /^utr is NULL, which/ },
      { line: 6, reason: /^fee is #N\/A, which/ },
    ],
  })
})

t.test('a quote that takes other rows into a column that is ignored is an error', async t => {
  const row = (id: string, method: string) =>
    `${id},1,INR,captured,2026-02-05T10:00:00Z,,,,,,${method}`
  const rows = [row('pay_4', '"upi'), row('pay_5', 'upi"'), row('pay_6', 'upi')]
  const path = 'gateway_a/statement?lender=LENDER_02'
  const { body } = await upload(service.url, path, [`${HEADER},method`, ...rows].join('\n'))
  t.match(body, { rows: 2, valid_rows: 1, errors: [{ line: 2, reason: /^column 11 goes on/ }] })
})

t.test('a word for no value is no id of a payment, and an empty cell for a settlement', async t => {
  const rows = ['NA,setl_1,utr_1', 'pay_8,-,utr_1', 'pay_9,setl_1,0', '0,n/a,nil'].map(row => {
    const [id, settlement, utr] = row.split(',')
    return `${id},1,INR,captured,2026-02-05T10:00:00Z,,,${settlement},,${utr}`
  })
  const path = 'gateway_a/statement?lender=LENDER_02'
  const valid = 'pay_7,1,INR,captured,2026-02-05T10:00:00Z,,,,,'
  const { body } = await upload(service.url, path, [HEADER, ...rows, valid].join('\n'))
  t.match(body, {
    valid_rows: 3,
    errors: [
      { line: 2, reason: /^gateway_payment_id is NA, which stands for no value/ },
      { line: 5, reason: /^gateway_payment_id is 0, which stands for no value/ },
    ],
  })
  const { rows: settled } = await sql`
    select settlement_id, utr from core.statement where gateway_payment_id in ('pay_8', 'pay_9')
     order by gateway_payment_id`.execute(service.db)
  t.same(settled, [
    { settlement_id: null, utr: 'utr_1' },
    { settlement_id: 'setl_1', utr: null },
  ])
})

t.test('a word for no value is no charge or time of a settlement, but 0 is a charge', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const row = (id: string, end: string) => `${id},1,INR,captured,2026-02-05T10:00:00Z,${end}`
  const rows = [
    row('pay_1', 'NA,n/a,setl_1,NA,utr_1'),
    row('pay_2', '0,0.00,setl_1,-,utr_1'),
    row('pay_3', 'soon,soon,setl_1,later,utr_1'),
  ]
  const path = 'gateway_a/statement?lender=LENDER_02'
  const { body } = await upload(service.url, path, [HEADER, ...rows].join('\n'))
  const reason = /^fee must be .*; tax must be .*; settled_at must be /
  t.match(body, { valid_rows: 2, errors: [{ line: 4, reason }] })
  const { rows: kept } = await sql`
    select fee::text, tax::text, settled_at from core.statement order by gateway_payment_id`.execute(
    service.db,
  )
  t.same(kept, [
    { fee: null, tax: null, settled_at: null },
    { fee: '0', tax: '0.00', settled_at: null },
  ])
})

t.test('times as a spreadsheet writes them are in LEDGER_TIMEZONE', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const rows = [
    'pay_1,1,INR,captured,05-Feb-26 10:00,,,,,',
    'pay_2,1,INR,captured,5 February 2026 1:30:09 PM,,,setl_1,07/Feb/2026 12:00,',
    'pay_3,1,INR,captured,05-02-2026 10:00,,,,,',
    'pay_4,1,INR,captured,05-Feb-26,,,,,',
  ]
  const path = 'gateway_b/statement?lender=LENDER_02'
  const { body } = await upload(service.url, path, [HEADER, ...rows].join('\n'))
  const reason =
    'captured_at must be a valid time, such as 2026-03-05 10:15:30 or 2026-03-05T10:15:30+05:30: format the column as yyyy-mm-dd hh:mm:ss in the spreadsheet'
  t.same(body.errors, [
    { line: 4, reason },
    { line: 5, reason },
  ])
  const { rows: kept } = await sql<object>`
    select captured_at, settled_at from ops.statement order by gateway_payment_id`.execute(
    service.db,
  )
  t.same(kept, [
    { captured_at: new Date('2026-02-05T04:30:00Z'), settled_at: null },
    { captured_at: new Date('2026-02-05T08:00:09Z'), settled_at: new Date('2026-02-07T06:30:00Z') },
  ])
})

t.test('an uploaded row does not take back a capture that the gateway reported', async t => {
  const gateways = await gatewaySandbox(t)
  const service = await startTestService(t, gateways.settings)
  await gateways.put('/payments', { gateway: 'gateway_a', id: 'pay_1', created_at: PAID_AT })
  await fetchAll(service.call, 'gateway_a')
  const csv = `${HEADER}\npay_1,1000.00,INR,failed,${PAID_AT},,,,,\n`
  t.match(await upload(service.url, 'gateway_a/statement?lender=LENDER_02', csv), { status: 201 })
  const { rows } = await sql<object>`select status, source from core.statement`.execute(service.db)
  t.same(rows, [{ status: 'captured', source: 'api' }])
})

t.test('the template of a statement is a valid statement', async t => {
  const template = await textOf(service, '/api/gateways/statement-template.csv')
  t.equal(template.split('\r\n', 1)[0], HEADER)
  t.match(await upload(service.url, 'gateway_b/statement?lender=LENDER_02', template), {
    body: { rows: 1, valid_rows: 1, errors: [] },
  })
})

t.test('a file that is not a statement, or names no known lender, is refused', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const refused = async (path: string, csv: string) => (await upload(service.url, path, csv)).status
  t.equal(await refused('gateway_a/statement', HEADER), 400)
  t.equal(await refused('gateway_a/statement?lender=NOBODY', HEADER), 400)
  t.equal(await refused('gateway_x/statement?lender=LENDER_02', HEADER), 404)
  t.equal(await refused('gateway_a/statement?lender=LENDER_02', `${HEADER}\n`), 400)
  t.equal(await refused('gateway_a/statement?lender=LENDER_02', 'a,b\n1,2\n'), 400)
  const twice = `${HEADER.replace('fee', 'Amount')}\n1,2,INR,captured,2026-02-05T10:00:00Z,3,,,,`
  t.match(await upload(service.url, 'gateway_a/statement?lender=LENDER_02', twice), {
    status: 400,
    body: { detail: 'Line 1: column 6 repeats Amount' },
  })
  const without = `${HEADER.replace('currency,', '')},notes\n`
  t.match(await upload(service.url, 'gateway_a/statement?lender=LENDER_02', without), {
    status: 400,
    body: { detail: /^Line 1: the column currency is missing\. The template is at / },
  })
  const { rows } = await sql`select from core.gateway_window`.execute(service.db)
  t.equal(rows.length, 0)
})

t.test(
  'a payment and its row in a file, of different days and kept at the same time, leave no day stale',
  async t => {
    const service = await startTestService(t)
    const rows = [HEADER, 'pay_1,1000.00,INR,captured,2026-02-05T10:00:00+05:30,,,,,']
    const uploading = await service.db.transaction().execute(async trx => {
      await sql`select core.lock_settling()`.execute(trx)
      // What a batch makes of a webhook that gives another day.
      await sql`
        insert into core.transaction (gateway, kind, gateway_payment_id, lender, amount, currency, paid_at, is_captured,
          is_verified, state, reason, source, raw_id, received_at)
        values ('gateway_a', 'payment', 'pay_1', 'LENDER_02', 1000, 'INR', '2026-02-07T10:00:00+05:30', true, false,
          'suspense', 'no_loan_named', 'lender_02_gateway_a', gen_random_uuid(), now())`.execute(
        trx,
      )
      const uploading = upload(service.url, 'gateway_a/statement?lender=LENDER_02', rows.join('\n'))
      await until(
        async () =>
          (await isReconciled(service.db)) || (await waitingTransaction(service.db)) !== undefined,
        'the upload waits, or its day is worked out',
      )
      return { done: uploading }
    })
    t.equal((await uploading.done).status, 201)
    const { days } = await reconciliation(service.call)
    t.match(days, [{ day: DAY, captured: { amount: '1000.00' } }])
    t.same(filled(days[0]), { suspense: '1 1000.00' })
  },
)

async function isReconciled(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select
     where exists (select from core.day_figure)
       and not exists (select from core.changed_day)`.execute(db)
  return rows.length > 0
}
