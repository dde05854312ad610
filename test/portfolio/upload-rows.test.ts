import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { LOAN_COLUMNS } from '../support/portfolio/portfolio.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'

const REMEDY = 'format the column as text in the spreadsheet, and enter the value as it was issued'

/**
 * All tests share this service: a file's rows are compared with each other, and with the loans that another file has
 * run.
 */
const service = await startTestService(t, { ROLE: 'api' })

t.test('a huge cell in any column is an error of its row', async t => {
  const huge = randomBytes(20_000).toString('hex')
  for (const column of LOAN_COLUMNS.split(',')) {
    const { status, body } = await uploadCsv(service, 'loans', loansCsv({ [column]: huge }))
    t.match(
      { status, rows: body.rows, invalid: body.invalid_rows },
      { status: 201, rows: 1, invalid: 1 },
      column,
    )
  }
})

t.test('a loan id that is too long is kept in the cells of its row alone', async t => {
  const row = { loan_external_id: 'L'.repeat(90_000) }
  for (const [type, csv] of [
    ['loans', loansCsv(row)],
    ['repayments', repaymentsCsv(row)],
  ] as const) {
    const { body } = await uploadCsv(service, type, csv)
    t.match(body, { invalid_rows: 1 })
    const { rows } = await sql`
      select external_loan_id from ops.migration_row
       where migration_id = ${body.migration_id}`.execute(service.db)
    t.same(rows, [{ external_loan_id: null }])
  }
})

t.test('every error of every row is reported by column name', async t => {
  const csv = loansCsv(
    {},
    {
      loan_external_id: '..',
      client_external_id: 'C-2',
      client_firstname: 'x'.repeat(51),
      principal: '1,000.00',
      interest_rate_per_period: '-1',
      loan_term_frequency: '11',
      submitted_on_date: '31 February 2024',
      lender: 'LENDER_77',
    },
    { loan_external_id: 'L-3', loan_term_frequency: '13' },
    { loan_external_id: 'L-4', approved_on_date: '09 January 2024' },
    { loan_external_id: 'L-5', approved_on_date: '' },
    { loan_external_id: 'L-6', disbursed_amount: '1200.01' },
    { loan_external_id: 'L-7', disbursed_on_date: '', utr_payment_id: 'UTR' },
    { loan_external_id: 'L-8', client_lastname: '', client_external_id: 'C-8' },
    { loan_external_id: 'L-9', principal: '0.1000000000000000000001' },
  )
  const { body } = await uploadCsv(service, 'loans', csv)
  t.match(body, { rows: 9, valid_rows: 1, invalid_rows: 8 })
  const reasons = Object.fromEntries(body.errors.map((one: any) => [one.line, one.reason]))
  for (const column of [
    'loan_external_id is only dots',
    'client_firstname has 51 characters, but at most 50 are allowed',
    'principal must be a number in digits',
    'interest_rate_per_period must be 0 or more',
    'submitted_on_date must be a valid date from 1000 to 2999, such as 05 March 2026 or 2026-03-05',
    'lender must be a lender',
  ])
    t.match(reasons[3], column)
  t.match(
    reasons[4],
    /^loan_term_frequency must be a multiple of number_of_repayments: 13 is no multiple of 12$/,
  )
  t.match(reasons[5], 'approved_on_date must not be before submitted_on_date')
  t.match(reasons[6], 'approved_on_date is required if disbursed_on_date is filled')
  t.match(reasons[7], 'disbursed_amount must not be greater than principal')
  t.match(reasons[8], 'utr_payment_id must be empty if disbursed_on_date is empty')
  t.match(reasons[9], 'client_lastname is required')
  t.match(reasons[10], 'principal has 23 digits, but at most 15 are kept')
})

t.test('scientific notation is an error in ids, references and telephone numbers', async t => {
  const shortened = [
    '9.19877E+11',
    '4.01235e+11',
    '4.01235E11',
    '4,01235E+11',
    '4E+11',
    '1e-05',
    '9.E+11',
    '.5E+11',
    "'9.19877E+11",
    '9.19877E +11',
    '9.19877\u00a0E+11\u200b',
    '９.１９８７７Ｅ＋１１',
  ]
  const loans = shortened.map((text, i) => ({
    loan_external_id: `SN-${i}`,
    client_external_id: `SN-${i}`,
    client_mobile_no: text,
    utr_payment_id: text,
  }))
  const { body } = await uploadCsv(service, 'loans', loansCsv(...loans))
  t.equal(body.invalid_rows, shortened.length)
  const sentence = (column: string) => new RegExp(`${column} is in scientific notation`)
  for (const { reason } of body.errors) {
    t.match(reason, sentence('client_mobile_no'))
    t.match(reason, sentence('utr_payment_id'))
  }
  const ids = loansCsv({ loan_external_id: '4.01235E11', client_external_id: '9.19877e11' })
  const [{ reason }] = (await uploadCsv(service, 'loans', ids)).body.errors
  t.match(reason, sentence('loan_external_id'))
  t.match(reason, sentence('client_external_id'))
  const repayments = shortened.map(text => ({ payment_reference: text }))
  const told = (await uploadCsv(service, 'repayments', repaymentsCsv(...repayments))).body
  t.equal(told.invalid_rows, shortened.length)
  for (const one of told.errors) t.match(one.reason, sentence('payment_reference'))
})

t.test('a number made of an id, UTR, reference or telephone number is an error', async t => {
  const damaged = {
    '1453500001.0': 'has a decimal point',
    '402345678901.00': 'has a decimal point',
    '４０２３．０': 'has a decimal point',
    '1,453,002,004': 'has separators between its digits',
    '1,45,30,02,004.00': 'has separators between its digits',
    '1453500001,0': 'has separators between its digits',
    '1.453.002.004': 'has separators between its digits',
    '1’453’002': 'has separators between its digits',
    "'1453500002": 'begins with an apostrophe',
    '’1453500002': 'begins with an apostrophe',
  }
  const between = {
    '4023 4567 8901': 'has blanks between its digits',
    '4023\u00a045678901': 'has blanks between its digits',
    '4023\u200b45678901': 'contains an invisible character',
    'pay_29QQ\u00a0oUBi66xm2f': 'contains an invisible character',
  }
  const all = Object.entries({ ...damaged, ...between })
  const references = all.map(([payment_reference]) => ({ payment_reference, gateway: 'gateway_b' }))
  const { body } = await uploadCsv(service, 'repayments', repaymentsCsv(...references))
  t.same(
    body.errors.map(({ reason }: any) => reason),
    all.map(([, what]) => `payment_reference ${what}: ${REMEDY}`),
  )
  const loans = Object.keys(damaged).map((text, i) => ({
    loan_external_id: `DN-${i}`,
    client_external_id: `DN-${i}`,
    client_mobile_no: text,
    utr_payment_id: text,
  }))
  const { errors } = (await uploadCsv(service, 'loans', loansCsv(...loans))).body
  t.same(
    errors.map(({ reason }: any) => reason),
    Object.values(damaged).map(
      what => `client_mobile_no ${what}: ${REMEDY}; utr_payment_id ${what}: ${REMEDY}`,
    ),
  )
})

t.test('an external id is an error with an apostrophe before its first digit only', async t => {
  const ids = { loan_external_id: "'0012", client_external_id: '’5001' }
  const why = `begins with an apostrophe: ${REMEDY}`
  const others = { loan_external_id: "'A-1", client_external_id: "O'1" }
  const { body } = await uploadCsv(service, 'loans', loansCsv(ids, others))
  const reason = `client_external_id ${why}; loan_external_id ${why}`
  t.same(body.errors, [{ line: 2, reason }])
  const { loan_external_id } = ids
  const repayments = (await uploadCsv(service, 'repayments', repaymentsCsv({ loan_external_id })))
    .body
  t.same(repayments.errors, [{ line: 2, reason: `loan_external_id ${why}` }])
})

t.test('a word like NA is an error as id, number or address, and accepted as a name', async t => {
  const words = [
    'NA',
    'n/a',
    'N.A.',
    'Nil',
    'none',
    'null',
    'Not available',
    '0',
    '000',
    '-',
    '--',
    'UNKNOWN',
    '(missing)',
    '"',
    '-do-',
    'ditto',
    '?',
    '0.00',
  ]
  const rows = words.map((word, i) => ({
    loan_external_id: `NA-${i}`,
    client_external_id: `NA-${i}`,
    client_mobile_no: word,
    client_email_address: word,
    utr_payment_id: word,
  }))
  const named = { client_firstname: 'Nil', client_lastname: 'Na', client_mobile_no: '+91 0' }
  const { body } = await uploadCsv(service, 'loans', loansCsv(...rows, named))
  const sentence = (column: string, word: string | undefined) =>
    `${column} is ${word}, which stands for no value: enter the value, or leave the cell empty if its column is optional`
  t.same(
    body.errors.map(({ reason }: any) => reason.split('; ')),
    words.map(word =>
      ['client_mobile_no', 'utr_payment_id', 'client_email_address'].map(name =>
        sentence(name, word),
      ),
    ),
  )
  const references = words.map((payment_reference, i) => ({
    loan_external_id: `NA-${i}`,
    payment_reference,
  }))
  const { errors } = (await uploadCsv(service, 'repayments', repaymentsCsv(...references))).body
  t.same(
    errors.map(({ reason }: any) => reason),
    words.map(word => sentence('payment_reference', word)),
  )
  const clients = words.map((client_external_id, i) => ({
    loan_external_id: `NB-${i}`,
    client_external_id,
  }))
  const ofClients = (await uploadCsv(service, 'loans', loansCsv(...clients))).body.errors
  t.same(
    ofClients.map(({ reason }: any) => reason),
    words.map(word => sentence('client_external_id', word)),
  )
  const loans = words.map((loan_external_id, i) => ({
    loan_external_id,
    payment_reference: `p-${i}`,
  }))
  const ofLoans = (await uploadCsv(service, 'repayments', repaymentsCsv(...loans))).body.errors
  t.same(
    ofLoans.map(({ reason }: any) => reason),
    words.map(word => sentence('loan_external_id', word)),
  )
})

t.test('a quote that takes rows into a cell is an error, and lines of a note are not', async t => {
  const row = (reference: string, note: string) => `L-9,2024-02-12,100,${reference},,${note}`
  const csv = [
    'loan_external_id,transaction_date,amount,payment_reference,gateway,note',
    row('q-1', '"paid'),
    row('q-2', ''),
    row('q-3', 'late"'),
    row('q-4', '"two\nlines, three, four"'),
  ].join('\n')
  for (const text of [csv, csv.replaceAll(',', ';'), csv.replaceAll('\n', '\r\n')]) {
    const { body } = await uploadCsv(service, 'repayments', text)
    t.match(body, {
      rows: 2,
      valid_rows: 1,
      errors: [{ line: 2, reason: /^column 6 goes on over the cells of other rows: a quote / }],
    })
  }
})

t.test('a quote takes no rows unseen where rows end early or in empty cells', async t => {
  const noted = 'loan_external_id,transaction_date,amount,payment_reference,gateway,note'
  const files = {
    'empty columns at the end': [
      `${noted},,`,
      'L-9,2024-02-12,100,q-1,,"paid,,',
      'L-9,2024-03-12,100,q-2,,late",,',
    ],
    'a row that ends early': [
      noted.replace('gateway,note', 'note,gateway'),
      'L-9,2024-02-12,100,q-1,"paid',
      'L-9,2024-03-12,100,q-2,late"',
    ],
    'a quote that ends in another column': [
      noted.replace('gateway,note', 'note,gateway'),
      'L-9,2024-02-12,100,q-1,"paid',
      'L-9,2024-03-12,100,q-2,late,"',
    ],
    'rows that end in other ways': [
      noted.replace('gateway,note', 'note,gateway'),
      'L-9,2024-02-12,100,q-1,"paid,,,',
      'L-9,2024-03-12,100,q-2,',
      'L-9,2024-04-12,100,q-3,late"',
    ],
  }
  for (const [name, lines] of Object.entries(files)) {
    const { body } = await uploadCsv(service, 'repayments', `${lines.join('\n')}\n`)
    const reason = /^column [56] goes on over the cells of other rows: a quote /
    t.match(body, { valid_rows: 0, errors: [{ line: 2, reason }] }, name)
  }
})

t.test('blanks at the ends of a value, and those of a telephone number, are no damage', async t => {
  const row = { client_mobile_no: '+91 98765\u00a043210', utr_payment_id: '\u00a0N402345\u200b' }
  const { body } = await uploadCsv(service, 'loans', loansCsv(row))
  t.match(body, { invalid_rows: 0 })
  const references = ['\u200b402345678901\u00a0', '402345678901']
  const csv = repaymentsCsv(...references.map(one => ({ payment_reference: one })))
  t.match((await uploadCsv(service, 'repayments', csv)).body.errors, [
    { reason: 'payment_reference: this payment is also in line 3' },
    { reason: 'payment_reference: this payment is also in line 2' },
  ])
})

t.test('ids of loans and payments that a spreadsheet rounded are errors', async t => {
  const loans = ['1234567890123450', '1234567890123460'].map(id => ({
    loan_external_id: id,
    client_external_id: `${id}00`,
  }))
  const { body } = await uploadCsv(service, 'loans', loansCsv(...loans))
  t.equal(body.invalid_rows, 2)
  for (const { reason } of body.errors) {
    t.match(reason, /loan_external_id ends in 0, .* and so do all in this column: format/)
    t.match(
      reason,
      `client_external_id has only zeros after the 15 digits that a spreadsheet keeps: ${REMEDY}`,
    )
  }
  const paid = repaymentsCsv(
    { loan_external_id: '1234567890123450', payment_reference: '123456789012345000' },
    { loan_external_id: '1234567890123450', payment_reference: '123456789012345678' },
  )
  t.match((await uploadCsv(service, 'repayments', paid)).body.errors, [
    { line: 2, reason: /^payment_reference has only zeros after the 15 digits/ },
  ])
})

t.test('a date that a spreadsheet made of an id or reference is an error', async t => {
  const dates = ['12-Mar', '1-Mar', '12-Mar-26', 'Mar-26', 'Sep-01', 'Sept-26']
  const rows = dates.map(payment_reference => ({ payment_reference, gateway: 'gateway_a' }))
  const sound = ['12-3', 'MAR1', 'MAR-26', '12-Mart', 'Mar-026', 'A12-Mar', '12-Xyz', 'Abc-12']
  const others = [...sound, 'Mar-27'].map(payment_reference => ({ payment_reference }))
  const { body } = await uploadCsv(service, 'repayments', repaymentsCsv(...rows, ...others))
  t.same(
    body.errors.map(({ reason }: any) => reason),
    dates.map(() => `payment_reference is a date: ${REMEDY}`),
  )
  const loans = dates.map(id => ({
    loan_external_id: id,
    client_external_id: id,
    client_mobile_no: id,
    utr_payment_id: id,
  }))
  for (const { reason } of (await uploadCsv(service, 'loans', loansCsv(...loans))).body.errors)
    t.equal(reason, `client_mobile_no is a date: ${REMEDY}; utr_payment_id is a date: ${REMEDY}`)
})

t.test('an id that only resembles scientific notation is valid', async t => {
  const ids = ['LOAN-1E5', '1E5', '12E3', '４ E 5', '4.01235E11-A', '1.5', '-E+1', "'-E+1'"]
  const csv = repaymentsCsv(...ids.map(id => ({ payment_reference: id, note: '1.5E+11' })))
  t.match((await uploadCsv(service, 'repayments', csv)).body, { invalid_rows: 0 })
})

t.test('a repeated loan, a client of two names and a number of two clients are errors', async t => {
  const csv = loansCsv(
    { loan_external_id: 'L-1' },
    { loan_external_id: 'L-1', principal: '5.00' },
    { loan_external_id: 'L-2', client_external_id: 'C-2', client_activation_date: '2024-01-05' },
    { loan_external_id: 'L-3', client_external_id: 'C-2' },
    { loan_external_id: 'L-4', client_external_id: 'C-3' },
    {
      loan_external_id: 'L-5',
      client_external_id: 'C-3',
      client_firstname: 'Usha',
      client_mobile_no: '99',
    },
    { loan_external_id: 'L-6', client_external_id: 'C-6', client_mobile_no: '99' },
  )
  const { body } = await uploadCsv(service, 'loans', csv)
  t.same(body.errors, [
    { line: 2, reason: 'loan_external_id: this loan is also in line 3' },
    { line: 3, reason: 'loan_external_id: this loan is also in line 2' },
    {
      line: 6,
      reason: 'client_firstname, client_mobile_no: line 7 has different data for this client',
    },
    {
      line: 7,
      reason:
        'client_firstname, client_mobile_no: line 6 has different data for this client; client_mobile_no: line 8 has this number for another client',
    },
    { line: 8, reason: 'client_mobile_no: line 7 has this number for another client' },
  ])
})

t.test(
  'a repayment is invalid if repeated or before the disbursement, not if no file disburses its loan',
  async t => {
    const { body: loans } = await uploadCsv(
      service,
      'loans',
      loansCsv({ loan_external_id: 'D-1' }, { loan_external_id: 'D-2', disbursed_on_date: '' }),
    )
    await sql`
      update loanops.migration_row set state = 'done'
       where migration_id = ${loans.migration_id}`.execute(service.db)
    const { body } = await uploadCsv(
      service,
      'repayments',
      repaymentsCsv(
        { loan_external_id: 'D-1' },
        { loan_external_id: 'D-1', amount: '1.00' },
        { loan_external_id: 'D-9' },
        { loan_external_id: 'D-1', payment_reference: 'p-2', transaction_date: '11 January 2024' },
        { loan_external_id: 'D-2', payment_reference: 'p-3' },
        { loan_external_id: 'D-1', payment_reference: 'pay_1', gateway: 'gateway_a' },
        { loan_external_id: 'D-9', payment_reference: 'pay_1', gateway: 'gateway_a' },
        { loan_external_id: 'D-8', payment_reference: 'pay_1', gateway: 'gateway_b' },
        {
          loan_external_id: 'D-9',
          payment_reference: '',
          gateway: 'paypal',
          amount: '0',
          transaction_date: '',
        },
      ),
    )
    t.same(
      body.errors.map(({ line }: any) => line),
      [2, 3, 5, 7, 8, 10],
    )
    const reasons = Object.fromEntries(body.errors.map((one: any) => [one.line, one.reason]))
    t.equal(reasons[2], 'payment_reference: this payment is also in line 3')
    t.equal(reasons[5], 'transaction_date: the loan was disbursed later, on 2024-01-12')
    t.equal(reasons[8], 'payment_reference: this payment is also in line 7')
    for (const column of [
      'payment_reference is required',
      'gateway must be gateway_a or gateway_b',
      'amount must be',
      'transaction_date is required',
    ])
      t.match(reasons[10], column)
  },
)

t.test(
  'a row with too few cells and one with a NUL are invalid, and named by the line where they begin',
  async t => {
    const csv = `${repaymentsCsv({ note: 'two\nlines' })}L-1,2024-02-12\nL-1,2024-02-12,1,p\0,,\n`
    const { body } = await uploadCsv(service, 'repayments', csv)
    t.same(body.errors, [
      {
        line: 4,
        reason:
          'the row has 2 cells, but the header has 6 columns: end it with the delimiters of its empty cells',
      },
      { line: 5, reason: 'payment_reference contains a NUL character' },
    ])
  },
)

t.test('more decimals than a column has, even zeros, are an error of the row', async t => {
  const loans = [
    { principal: '500.000' },
    { disbursed_amount: '500.000' },
    { loan_term_frequency: '12.000' },
    { number_of_repayments: '12.0' },
    { interest_rate_per_period: '12.0000000' },
    { principal: '1200.50', disbursed_amount: '500.0', interest_rate_per_period: '12.500000' },
  ].map((row, i) => ({ loan_external_id: `N-${i}`, ...row }))
  // A country with a decimal comma separates the cells so.
  const csv = loansCsv(...loans).replaceAll(',', ';')
  t.match((await uploadCsv(service, 'loans', csv)).body, {
    invalid_rows: 5,
    errors: [
      { line: 2, reason: 'principal has 3 decimals, but at most 2 are kept' },
      { line: 3, reason: 'disbursed_amount has 3 decimals, but at most 2 are kept' },
      { line: 4, reason: 'loan_term_frequency must be a whole number without a decimal point' },
      { line: 5, reason: 'number_of_repayments must be a whole number without a decimal point' },
      { line: 6, reason: 'interest_rate_per_period has 7 decimals, but at most 6 are kept' },
    ],
  })
  const repayments = repaymentsCsv({ amount: '500.000' }).replaceAll(',', ';')
  t.match((await uploadCsv(service, 'repayments', repayments)).body.errors, [
    { line: 2, reason: 'amount has 3 decimals, but at most 2 are kept' },
  ])
})

t.test('two rounded ids are errors, however far apart they are in the file', async t => {
  const between = Array.from({ length: 1_100 }, (_, n) => ({ payment_reference: `pay_${n}` }))
  const [first, last] = ['2223330029215300', '2223330029215400']
  const rows = [{ payment_reference: first }, ...between, { payment_reference: last }]
  const { body } = await uploadCsv(service, 'repayments', repaymentsCsv(...rows))
  t.match(body, { rows: 1_102, valid_rows: 1_100, invalid_rows: 2 })
})

t.test('a day in another form is refused, and the reason says how to write the column', async t => {
  const { body } = await uploadCsv(
    service,
    'repayments',
    repaymentsCsv({ transaction_date: '12-Feb-24' }, { transaction_date: '12-02-2024' }),
  )
  t.same(body.errors, [
    {
      line: 3,
      reason:
        'transaction_date must be a valid date from 1000 to 2999, such as 05 March 2026 or 2026-03-05: format the column as yyyy-mm-dd in the spreadsheet',
    },
  ])
})

t.test('a value that a program made up is an error in every column but the note', async t => {
  const values = [
    ...['#N/A', '#REF!', '#NAME?', 'NULL', 'nan', 'Ren\ufffd', '????', '?? ??', '#####'],
    ...['\\N', '(null)', '[NULL]', '<NA>', 'NaT', 'undefined', '[object Object]', '(blank)'],
  ]
  const loans = values.flatMap(value =>
    ['client_firstname', 'client_lastname', 'utr_payment_id', 'client_mobile_no'].map(column => ({
      [column]: value,
    })),
  )
  const rows = loans.map((row, i) => ({
    loan_external_id: `M-${i}`,
    client_external_id: `M-${i}`,
    ...row,
  }))
  const { body } = await uploadCsv(service, 'loans', loansCsv(...rows))
  t.equal(body.invalid_rows, rows.length)
  t.match(
    body.errors[0].reason,
    'client_firstname is #N/A, which a program writes where it has no value',
  )
  t.match(body.errors[20].reason, 'client_firstname has lost letters: save the file as CSV UTF-8')
  for (const value of ['NULL', 'nan', '\\N', '(null)', '[NULL]', '<NA>', 'NaT', '(blank)'])
    t.equal(
      body.errors[values.indexOf(value) * 4 + 2].reason,
      `utr_payment_id is ${value}, which stands for no value: enter the value, or leave the cell empty if its column is optional`,
    )

  const people = ['Null', 'Nan', 'Nancy', 'Hash #1', 'null', 'Err', 'Undefined', 'do'].map(
    (client_lastname, i) => ({
      client_lastname,
      loan_external_id: `P-${i}`,
      client_external_id: `P-${i}`,
    }),
  )
  t.match((await uploadCsv(service, 'loans', loansCsv(...people))).body, { invalid_rows: 0 })
  const notes = values.map((note, i) => ({ note, payment_reference: `p-${i}` }))
  t.match((await uploadCsv(service, 'repayments', repaymentsCsv(...notes))).body, {
    invalid_rows: 0,
  })
})

t.test('the error of a spreadsheet is one in each language', async t => {
  const values = [
    ...['#NV', '#WERT!', '#BEZUG!', '#ÜBERLAUF!', '#VALEUR!', '#NOM?', '#N/D', '#¡VALOR!'],
    ...['#¿NOMBRE?', '#I/T', '#YOK', '#BAŞV!', '#Н/Д', '#ЗНАЧ!', '#DIV/0!', '#BUSY!'],
    ...['#GETTING_DATA', 'Loading...'],
  ]
  const rows = values.map(payment_reference => ({ payment_reference }))
  const ids = ['#1023', '#A1', '#NORTH', 'Loading 5'].map(payment_reference => ({
    payment_reference,
  }))
  const { body } = await uploadCsv(service, 'repayments', repaymentsCsv(...rows, ...ids))
  t.match(body, { valid_rows: ids.length, invalid_rows: rows.length })
  for (const [i, value] of values.entries())
    t.equal(
      body.errors[i].reason,
      `payment_reference is ${value}, which a program writes where it has no value: enter the value`,
    )
})

t.test('a question mark beside a letter of a name is a lost letter', async t => {
  const names = ['Jos?', 'Mu?oz', '?lvarez', 'Ren? Kumar', '?', 'D’Souza']
  const rows = names.map((client_lastname, i) => ({
    client_lastname,
    loan_external_id: `Q-${i}`,
    client_external_id: `Q-${i}`,
  }))
  const { body } = await uploadCsv(service, 'loans', loansCsv(...rows))
  const reason = /^client_lastname has lost letters: save the file as CSV UTF-8/
  t.match(body, { valid_rows: 2, errors: [2, 3, 4, 5].map(line => ({ line, reason })) })
})

t.test(
  'a sign beside a letter of a name is a letter of MS-DOS, an old Mac or another code',
  async t => {
    const garbled = [
      ...[
        'Mu¤oz',
        'M”ller',
        'Mart¡nez',
        'G¢mez',
        'N£¤ez',
        'µlvarez',
        'S›rensen',
        'Wei§',
        'S¿rensen',
      ],
      ...['N™ez', 'GŸnther', '£ukasz', 'M¨¹ller', 'Jos¨¦'],
    ]
    const names = [
      '“Bobby” Singh',
      'O´Brien',
      'Gal·la',
      'Mª José',
      'Smith–Jones',
      'Anna\u00a0Maria',
    ]
    const rows = [...garbled, ...names].map((client_firstname, i) => ({
      client_firstname,
      loan_external_id: `G-${i}`,
      client_external_id: `G-${i}`,
    }))
    const { body } = await uploadCsv(service, 'loans', loansCsv(...rows))
    const reason = /^client_firstname has lost letters: save the file as CSV UTF-8/
    t.match(body, {
      valid_rows: names.length,
      errors: garbled.map((_, i) => ({ line: i + 2, reason })),
    })
  },
)

t.test('text that another program quoted or garbled is an error of its row', async t => {
  const reasonOf = async (row: Record<string, string>) => {
    const { body } = await uploadCsv(service, 'repayments', repaymentsCsv(row))
    return body.errors[0]?.reason
  }
  for (const reference of ['“p-1”', "'p-1'", '"p-1"', '«p-1»', '`p-1´'])
    t.match(
      await reasonOf({ payment_reference: reference }),
      /^payment_reference is in quotes: format the column as text/,
      reference,
    )
  t.match(
    await reasonOf({ payment_reference: '="0306703"' }),
    /payment_reference is a formula: enter the text in it, without the sign and the quotes/,
  )
  t.match(await reasonOf({ loan_external_id: '="0012"' }), /^loan_external_id is a formula/)
  for (const [name, garbled] of [
    ['José', 'JosÃ©'],
    ['SIMÕES', 'DÕSouza'],
    ['Žižek', 'JosŽ'],
    ['Josué', 'Josu‚'],
    ['राम', 'à¤°à¤¾à¤®'],
    ['O’Neil', 'Oâ€™Neil'],
    ['D’Souza', 'D?Souza'],
  ] as const) {
    t.match(await reasonOf({ loan_external_id: garbled }), /^loan_external_id has lost letters/)
    t.equal(await reasonOf({ loan_external_id: name }), undefined, name)
    t.equal(await reasonOf({ note: garbled }), undefined, 'a note may be anything')
  }
  for (const name of ['SÃO', 'MANHÃ\u00a0SILVA', 'âge', '=A1', 'upi://pay?pa=A'])
    t.equal(await reasonOf({ loan_external_id: name }), undefined, name)
})
