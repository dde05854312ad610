import t from 'tap'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { errorsOf, uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService(t, { ROLE: 'api' })

const SHORT = 'loan_external_id,transaction_date,amount,payment_reference'
const NOTED = `${SHORT},note`
const TEMPLATE = 'loan_external_id,transaction_date,amount,payment_reference,gateway,note'
const rowsOf = (header: string, ...rows: string[]) => `${[header, ...rows].join('\n')}\n`

t.test('An amount with a comma and no quotes is not read as its first digits', async t => {
  const files: [name: string, csv: string][] = [
    ['a row like no other', rowsOf(NOTED, 'L-1,2024-02-15,900,R-1,', 'L-1,2024-03-15,1,234,R-2,')],
    ['the only row', rowsOf(NOTED, 'L-1,2024-03-15,1,234,R-2,')],
    ['every row', rowsOf(NOTED, 'L-1,2024-03-15,1,234,R-2,', 'L-1,2024-04-15,1,050,R-3,')],
    ['decimals', rowsOf(NOTED, 'L-1,2024-03-15,12,500.00,R-2,')],
    ['a decimal comma', rowsOf(NOTED, 'L-1,2024-03-15,1234,50,R-2,')],
    ['many decimals', rowsOf(NOTED, 'L-1,2024-03-15,900,500000,R-2,')],
    ['a currency after it', rowsOf(NOTED, 'L-1,2024-03-15,1,234/-,R-2,')],
    ['a short row', rowsOf(`${NOTED},gateway`, 'L-1,2024-04-15,1,050,R-3')],
    ['a lakh', rowsOf(`${NOTED},gateway`, 'L-1,2024-04-15,1,00,000.00,R-3,,')],
    ['a row as wide as its header', rowsOf(NOTED, 'L-1,2024-03-15,1,234.50,R-2')],
    ['a header with an empty end', rowsOf(`${NOTED},`, 'L-1,2024-04-15,1,050,R-3')],
  ]
  for (const [name, csv] of files) {
    const { status, body } = await uploadCsv(service, 'repayments', csv)
    t.equal(status, 201, name)
    t.match(body.errors.at(-1).reason, /without separators/, name)
    t.notOk(
      body.errors.some(({ line }: { line: number }) => line === 2) && body.valid_rows > 0,
      name,
    )
    const again = await uploadCsv(service, 'repayments', await errorsOf(service, body.migration_id))
    t.match(again.body, { valid_rows: 0 }, `${name}, with its errors file as it is`)
  }
  const amount = loansCsv({ disbursed_amount: 'AMOUNT' }).replace('AMOUNT', '1,150')
  const { body } = await uploadCsv(service, 'loans', amount)
  t.match(body, {
    valid_rows: 0,
    errors: [{ reason: /^disbursed_amount may be 1,150: the row has 19 cells/ }],
  })
})

t.test('A row as wide as its header is no proof beside rows of another width', async t => {
  const short = 'L-1,2024-02-15,900,R-1'
  const shifted = 'L-1,2024-04-15,1,050,R-3'
  const whole =
    /^Line \d: amount may be 1,050, because of line \d: the row has \d cells, and the header has 5\./
  for (const rows of [
    [short, shifted],
    [shifted, short],
    [shifted, 'L-1,2024-03-15,1,234,R-2,'],
    [shifted, 'L-1,2024-03-15,1,234,R-2,paid'],
  ]) {
    const { status, body } = await uploadCsv(service, 'repayments', rowsOf(NOTED, ...rows))
    t.match({ status, ...body }, { status: 400, detail: whole })
  }
  const total = await uploadCsv(service, 'repayments', rowsOf(NOTED, shifted, 'Total'))
  t.match(total.body, { valid_rows: 1 }, 'a row that ends too early shows nothing of the others')
  const alone = await uploadCsv(service, 'repayments', rowsOf(NOTED, 'L-1,2024-02-15,900,101,cash'))
  t.match(alone.body, { valid_rows: 1 }, 'a row of a file whose rows are all as wide stands')
  const many = Array.from({ length: 3_000 }, (_, i) => `L-1,2024-02-15,900,R-${i}`)
  const late = await uploadCsv(service, 'repayments', rowsOf(NOTED, shifted, ...many))
  t.match(late.body, { detail: whole }, 'the rows may be far apart')
})

t.test('A row may end before columns that may be empty, as Excel saves it', async t => {
  const loans = loansCsv(
    ...Array.from({ length: 40 }, (_, i) => ({
      client_external_id: `C-${i}`,
      loan_external_id: `L-${i}`,
      principal: '50000',
      disbursed_on_date: '',
      approved_on_date: '',
    })),
  )
  const cut = loans.split('\n').map((line, i) => (i < 16 ? line : line.replace(/,+$/, '')))
  const { body } = await uploadCsv(service, 'loans', cut.join('\r\n'))
  t.match(body, { rows: 40, valid_rows: 40 })
  const repayments = rowsOf(TEMPLATE, 'L-1,2024-02-12,900,R-1,,cash', 'L-1,2024-02-13,900,R-2')
  t.match((await uploadCsv(service, 'repayments', repayments)).body, { valid_rows: 2 })
  const digits = rowsOf(TEMPLATE, 'L-1,2024-02-12,900,101').replaceAll(',', ';')
  t.match((await uploadCsv(service, 'repayments', digits)).body, { valid_rows: 1 }, 'semicolons')
  const statement = 'pay_1,2.00,INR,captured,2026-02-05T10:00:00Z\n'
  const path = 'gateway_a/statement?lender=LENDER_02'
  const read = await uploadStatement(service.url, path, `${STATEMENT_HEADER}\n${statement}`)
  t.match(read.body, { valid_rows: 1 }, 'a statement')
})

t.test('a row that is sound as it is may have other numbers of empty cells at its end', async t => {
  const files: [name: string, csv: string][] = [
    ['a receipt number', rowsOf(SHORT, 'L-1,2024-02-12,900,101,')],
    ['an empty end of the header', rowsOf(`${SHORT},`, 'L-1,2024-02-12,900,101')],
    ['a note', rowsOf(`${SHORT},note`, 'L-1,2024-02-12,900,R-1,1st EMI,')],
    [
      'a later row that is short',
      rowsOf(NOTED, 'L-1,2024-02-12,900,R-1,12 of 24', 'L-1,2024-03-12,900,R-2'),
    ],
  ]
  for (const [name, csv] of files)
    t.match((await uploadCsv(service, 'repayments', csv)).body, { invalid_rows: 0 }, name)
})

t.test('The number of a cheque after an amount is not taken for its decimals', async t => {
  const second = { client_external_id: 'C-2', loan_external_id: 'L-2', disbursed_amount: '1200' }
  for (const utr_payment_id of ['123456', '4711']) {
    const csv = loansCsv({ disbursed_amount: '1200', utr_payment_id }, second)
    const { body } = await uploadCsv(service, 'loans', csv.replace(/,\n$/, '\n'))
    t.match(body, { valid_rows: 2 }, utr_payment_id)
  }
})

t.test('A gateway’s report may have empty cells at the ends of some of its rows', async t => {
  const recon =
    'transaction_entity,entity_id,amount,currency,fee,tax,debit,credit,entity_created_at,settlement_id,settled_at,settlement_utr'
  const row =
    'payment,pay_1,500,INR,12,2,0,488,2026-02-05 10:00:00,setl_1,2026-02-07 10:00:00,UTR1234567890'
  for (const csv of [rowsOf(recon, `${row},`), rowsOf(`${recon},`, row)]) {
    const { body } = await uploadStatement(service.url, 'gateway_a/statement?lender=LENDER_02', csv)
    t.match(body, { valid_rows: 1, invalid_rows: 0 })
  }
  const payouts =
    'id,settlement_date,transactions,total_amount,charges,net_settlement_amount,utr_no'
  const parts =
    'event_id,event_type,event_amount,sale_type,event_time,event_currency,cf_payment_id,settlement_utr'
  const sections = rowsOf(
    payouts,
    '998877,2026-02-06,1,500,12,488,UTR1,',
    parts,
    '1,PAYMENT,500.00,CREDIT,2026-02-05 10:00:00,INR,123456789,UTR1',
  )
  const { body } = await uploadStatement(
    service.url,
    'gateway_b/statement?lender=LENDER_02',
    sections,
  )
  t.match(body, { valid_rows: 1, invalid_rows: 0 })
})

t.test('A last row that may have been cut off is invalid until a person says so', async t => {
  const csv = rowsOf(TEMPLATE, 'L-1,2024-02-12,900,R-1,,', 'L-1,2024-02-13,900,R-2').trim()
  const { body } = await uploadCsv(service, 'repayments', csv)
  t.match(body, {
    valid_rows: 1,
    errors: [{ line: 3, reason: /^the file ends within this row, and may have been cut off/ }],
  })
  const errors = await errorsOf(service, body.migration_id)
  t.match((await uploadCsv(service, 'repayments', errors)).body, {
    valid_rows: 0,
    errors: [{ reason: /^the file ends within this row/ }],
  })
  const settled = errors.replace(/"?the file ends.*/, '')
  t.match((await uploadCsv(service, 'repayments', settled)).body, { valid_rows: 1 })
})

t.test('A file cut off at any place within its last row says so', async t => {
  const whole = rowsOf(SHORT, 'L-1,2024-02-12,900,R-1', 'L-1,2024-02-13,900,R-\u00e9\u00e9').trim()
  const bytes = Buffer.from(whole)
  for (const missing of [12, 18, bytes.length - whole.lastIndexOf('\n') - 2]) {
    const { body } = await uploadCsv(service, 'repayments', bytes.subarray(0, -missing))
    const reason = /^the file ends within this row, and may have been cut off: upload the whole/
    t.match(body, { rows: 2, errors: [{ line: 3, reason }] }, `${missing} bytes are missing`)
  }
  const { status, body } = await uploadCsv(service, 'repayments', bytes.subarray(0, -1))
  t.equal(status, 400)
  t.match(body.detail, /^Line 3, character 23: .*, or has been cut off: upload the whole file/)
  const utf16 = Buffer.from(`\ufeff${whole}`, 'utf16le').subarray(0, -1)
  const refused = await uploadCsv(service, 'repayments', utf16)
  t.match(refused.body.detail, /^The file is UTF-16 .*, or has been cut off: upload the whole file/)
})

t.test('An amount of a statement with a comma and no quotes is an error of its row', async t => {
  const path = 'gateway_a/statement?lender=LENDER_02'
  const header = 'gateway_payment_id,currency,status,captured_at,amount,fee,tax'
  const of = (id: string) => `${id},INR,captured,2026-02-05T10:00:00Z`
  const csv = rowsOf(header, `${of('pay_1')},500.00,,`, `${of('pay_2')},1,234.50,,`)
  const { body } = await uploadStatement(service.url, path, csv)
  t.match(body, { valid_rows: 1, errors: [{ line: 3, reason: /^amount may be 1,234.50/ }] })
  const mixed = rowsOf(header, `${of('pay_1')},500.00`, `${of('pay_2')},1,234.50,12.00`)
  const refused = await uploadStatement(service.url, path, mixed)
  t.match(refused.body, { detail: /^Line 3: amount may be 1,234.50/ })
  const summary = rowsOf(
    'id,settlement_date,net_settlement_amount,utr_no',
    'setl_1,2026-02-05,1,234.50,UTR1',
    'event_id,event_type,event_amount,sale_type,event_time,event_currency,cf_payment_id',
    'e1,PAYMENT,5.00,CREDIT,2026-02-05 10:00:00,INR,1',
  )
  const sections = await uploadStatement(
    service.url,
    'gateway_b/statement?lender=LENDER_02',
    summary,
  )
  t.match(sections.body.errors, [{ line: 2, reason: /^the row has 5 cells/ }], 'a payout')
})
