import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { sql } from 'kysely'
import t from 'tap'
import { textOf, uploadCsv } from '../support/migrate.ts'
import { LOAN_COLUMNS, REPAYMENT_COLUMNS } from '../support/portfolio.ts'
import { loansCsv, repaymentsCsv } from '../support/rows.ts'
import { startTestService, type TestService, TOKEN } from '../support/service.ts'

t.test('upload', async t => {
  const service = await startTestService(t, { ROLE: 'api' })

  t.test('the templates are valid files, their columns in the design’s order', async t => {
    for (const [type, columns] of [
      ['loans', LOAN_COLUMNS],
      ['repayments', REPAYMENT_COLUMNS],
    ] as const) {
      const template = await textOf(service, `/api/migration/templates/${type}.csv`)
      t.equal(template.split('\r\n')[0], columns)
      const { status, body } = await uploadCsv(service, type, template)
      t.equal(status, 201)
      t.match(body, { type, status: 'uploaded', rows: 1, valid_rows: 1, errors: [] })
    }
    const none = await service.call('GET', '/api/migration/templates/clients.csv')
    t.equal(none.status, 400)
  })

  t.test(
    'a file is read with a BOM, CRLF, semicolons, tabs, quotes, blank lines, any order of columns',
    async t => {
      const plain = repaymentsCsv({ note: 'paid' }, { payment_reference: 'p-2' })
      const reversed = plain
        .trim()
        .split('\n')
        .map(line => line.split(',').reverse().join(','))
        .join('\n')
      const variants = {
        bom: `\ufeff${plain}`,
        crlf: plain.replaceAll('\n', '\r\n'),
        semicolons: plain.replaceAll(',', ';'),
        tabs: plain.replaceAll(',', '\t'),
        quotes: plain.replaceAll(/[^,\n]+/g, '"$&"'),
        blank: plain.replaceAll('\n', '\n\n'),
        reversed,
        unended: plain.trim(),
        upperCase: plain.replace(REPAYMENT_COLUMNS, REPAYMENT_COLUMNS.toUpperCase()),
        without: plain.replaceAll(/,[^,]*$/gm, ''),
        otherDelimitersInCells: plain.replaceAll(',', ';').replace('paid', 'a, '.repeat(20)),
        otherEnds: plain.replace('\n', '\r\n'),
      }
      for (const [name, csv] of Object.entries(variants)) {
        const { body } = await uploadCsv(service, 'repayments', csv)
        t.match(body, { rows: 2, valid_rows: 2, invalid_rows: 0 }, name)
      }
    },
  )

  t.test('Windows-1252 is understood, and kept as it was meant', async t => {
    const csv = loansCsv({ client_firstname: 'José', principal: 'none' })
    const { body } = await uploadCsv(service, 'loans', new Uint8Array(Buffer.from(csv, 'latin1')))
    const errors = await textOf(service, `/api/migration/${body.migration_id}/errors.csv`)
    t.match(errors, /José/)
    t.equal(errors.charCodeAt(0), 0xfeff, 'and Excel is told that it is UTF-8')
  })

  t.test('a large file is read whatever its first line and its rows begin with', async t => {
    const rows = Array.from({ length: 1_000 }, (_, i) => ({ payment_reference: `p-${i}` }))
    const plain = repaymentsCsv(...rows)
    const variants = {
      emptyFirstColumn: plain.replaceAll(/^.*$/gm, line =>
        line === '' ? '' : `${line === REPAYMENT_COLUMNS ? 'reason' : ''},${line}`,
      ),
      blankLinesFirst: `\ufeff\n\n\r\n${plain}`,
      indented: plain.replaceAll(/^(?=L)/gm, ' '),
    }
    for (const [name, csv] of Object.entries(variants)) {
      t.ok(csv.length > 20_000, name)
      for (const delimiter of [',', '\t']) {
        const { body } = await uploadCsv(service, 'repayments', csv.replaceAll(',', delimiter))
        t.match(body, { rows: 1_000, valid_rows: 1_000 }, `${name} ${JSON.stringify(delimiter)}`)
      }
    }
  })

  t.test('lines are counted as an editor counts them, whatever ends them', async t => {
    const plain = repaymentsCsv({ note: 'two\nlines' }, { amount: 'x', payment_reference: 'p-2' })
    const variants = {
      lf: plain,
      crlf: plain.replaceAll('\n', '\r\n'),
      onlyHeaderLf: plain.replaceAll('\n', '\r\n').replace('\r\n', '\n'),
      onlyHeaderCrlf: plain.replace('\n', '\r\n'),
      cr: plain.replaceAll('\n', '\r'),
    }
    for (const [name, csv] of Object.entries(variants)) {
      const { body } = await uploadCsv(service, 'repayments', csv)
      t.match(body, { rows: 2, errors: [{ line: 4 }] }, name)
    }
  })

  t.test('a huge cell is an error of its row, in every column', async t => {
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

  t.test('uploads that are slow to come keep nobody else waiting', async t => {
    const slow = Array.from({ length: 12 }, () => {
      const socket = connect(Number(new URL(service.url).port))
      socket.on('error', () => undefined)
      socket.write(
        [
          'POST /api/migration/upload HTTP/1.1',
          'host: loanops',
          `x-internal-token: ${TOKEN}`,
          'content-type: multipart/form-data; boundary=B',
          'content-length: 1000000',
          '',
          '--B',
          'content-disposition: form-data; name="type"',
          '',
          'repayments',
          '--B',
          'content-disposition: form-data; name="file"; filename="slow.csv"',
          '',
          repaymentsCsv({}),
        ].join('\r\n'),
      )
      return socket
    })
    // Each of them is taken before what comes after it.
    for (let round = 0; round < 20; round++) await service.call('GET', '/healthz')
    const event = await service.call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', {
      event: 'payment.captured',
    })
    t.equal(event.status, 200)
    for (const socket of slow) socket.destroy()
  })

  t.test(
    'a file that cannot be read is refused by a sentence that names line and column',
    async t => {
      const good = repaymentsCsv({}, { payment_reference: 'p-2' })
      const lines = good.split('\n')
      const withLine3 = (line: string) => [lines[0], lines[1], line].join('\n')
      const refused: [string, string | Uint8Array<ArrayBuffer>, RegExp][] = [
        [
          'unknown column',
          good.replace('gateway', 'gatway'),
          /Line 1: column 5 \("gatway"\) is not a column of repayments/,
        ],
        [
          'missing column',
          good.replaceAll(/^[^,]*,/gm, ''),
          /Line 1: the column loan_external_id is missing/,
        ],
        ['column twice', good.replace('note', 'amount'), /Line 1: column 6 is amount again/],
        [
          'open quote',
          withLine3('L-1,2024-02-12,"100,p-2,,'),
          /Line 3, column amount: a quote is opened and never closed/,
        ],
        [
          'open quote, and more below',
          `${repaymentsCsv({ note: 'two\nlines' })}\nL-1,2024-02-12,"100,p-2,,\n\nL-1\n`.replaceAll(
            '\n',
            '\r\n',
          ),
          /Line 5, column amount: a quote is opened and never closed/,
        ],
        [
          'quote inside',
          withLine3('L-1,2024-02-12,1"00,p-2,,'),
          /Line 3, column amount: a quote stands inside a cell/,
        ],
        [
          'after a quote',
          withLine3('L-1,2024-02-12,"1"00,p-2,,'),
          /Line 3, column amount: a closing quote is followed/,
        ],
        [
          'UTF-16',
          new Uint8Array(Buffer.from(`\ufeff${good}`, 'utf16le')),
          /UTF-16: save it as CSV UTF-8/,
        ],
        [
          'two encodings',
          mixed(withLine3('L-1,2024-02-12,1,ü,,\nL-1,'), 'é'),
          /Line 4, character 5: the file is UTF-8 before it/,
        ],
        [
          'two encodings, and more behind',
          mixed(withLine3('L-1,2024-02-12,1,ü,,\nL-1,2024-02-12,1,'), 'é,,\n'),
          /Line 4, character 18: the file is UTF-8 before it/,
        ],
        [
          'two encodings, after a letter that stands for one that was lost',
          mixed(withLine3('L-1,2024-02-12,1,\ufffd,,\nL-1,'), 'é'),
          /Line 4, character 5: the file is UTF-8 before it/,
        ],
        [
          'two encodings, Windows-1252 first',
          mixed(good, 'L-1,2024-02-12,1,Ren\xe9,,\n', 'L-1,आशा'),
          /Line 5, character 5: the file is Windows-1252 before it, and this is UTF-8/,
        ],
        [
          'two encodings in one line, far into a Windows-1252 file',
          mixed('', `${good}${'L-1,2024-02-12,1,Ren\xe9,,\n'.repeat(10_000)}Ren\xe9 `, 'José'),
          /Line 10004, character 9: the file is Windows-1252 before it/,
        ],
        ['nothing', '', /The file is empty/],
        ['only a header', REPAYMENT_COLUMNS, /no row below its header/],
        ['not a CSV file', new Uint8Array(50_000).fill(7), /Line 1: the header does not end/],
      ]
      for (const [name, csv, sentence] of refused) {
        const { status, body } = await uploadCsv(service, 'repayments', csv)
        t.equal(status, 400, name)
        t.match(body, { code: 'INVALID_PAYLOAD', detail: sentence }, name)
      }
      const { rows } = await kept(service)
      t.equal(rows, 0, 'and nothing of it is kept')
    },
  )

  t.test('every error of every row is told, by the columns’ names', async t => {
    const csv = loansCsv(
      {},
      {
        loan_external_id: 'L 2',
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
      'loan_external_id must be',
      'client_firstname must be a text of 1 to 50',
      'principal must be a number above 0',
      'interest_rate_per_period must be',
      'submitted_on_date must be a day that exists, as 05 March 2026 or 2026-03-05',
      'lender must be a lender',
    ])
      t.match(reasons[3], column)
    t.match(reasons[4], /^loan_term_frequency must be a multiple of number_of_repayments$/)
    t.match(reasons[5], 'approved_on_date must not be before submitted_on_date')
    t.match(reasons[6], 'approved_on_date is required where disbursed_on_date is filled')
    t.match(reasons[7], 'disbursed_amount must not be above principal')
    t.match(reasons[8], 'utr_payment_id has no place where disbursed_on_date is empty')
    t.match(reasons[9], 'client_lastname is required')
    t.match(reasons[10], 'principal must be a number above 0')
  })

  t.test('a number that a spreadsheet has shortened is no id, reference or telephone', async t => {
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
    const sentence = (column: string) =>
      new RegExp(`${column} is a number that a spreadsheet has shortened`)
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

  t.test('an id that only looks like one is taken', async t => {
    const ids = ['LOAN-1E5', '1E5', '12E3', '４ E 5', '4.01235E11-A', '1.5', '-E+1', "'-E+1'"]
    const csv = repaymentsCsv(...ids.map(id => ({ payment_reference: id, note: '1.5E+11' })))
    t.match((await uploadCsv(service, 'repayments', csv)).body, { invalid_rows: 0 })
  })

  t.test(
    'rows are held against each other: a loan twice, a client with two names, a number of two clients',
    async t => {
      const csv = loansCsv(
        { loan_external_id: 'L-1' },
        { loan_external_id: 'L-1', principal: '5.00' },
        {
          loan_external_id: 'L-2',
          client_external_id: 'C-2',
          client_activation_date: '2024-01-05',
        },
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
        { line: 2, reason: 'loan_external_id: this loan stands in line 3 too' },
        { line: 3, reason: 'loan_external_id: this loan stands in line 2 too' },
        {
          line: 6,
          reason:
            'client_firstname, client_mobile_no: this client is described otherwise in line 7',
        },
        {
          line: 7,
          reason:
            'client_firstname, client_mobile_no: this client is described otherwise in line 6; client_mobile_no: another client has this number, in line 8',
        },
        { line: 8, reason: 'client_mobile_no: another client has this number, in line 7' },
      ])
    },
  )

  t.test(
    'a repayment twice or before its disbursement is invalid; what a file does not disburse the ledger decides',
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
          {
            loan_external_id: 'D-1',
            payment_reference: 'p-2',
            transaction_date: '11 January 2024',
          },
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
      t.equal(reasons[2], 'payment_reference: this payment stands in line 3 too')
      t.equal(reasons[5], 'transaction_date: the loan was disbursed later, on 2024-01-12')
      t.equal(reasons[8], 'payment_reference: this payment stands in line 7 too')
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
    'a row of another width and one with a NUL are invalid, and named by the line where they begin',
    async t => {
      const csv = `${repaymentsCsv({ note: 'two\nlines' })}L-1,2024-02-12\nL-1,2024-02-12,1,p\0,,\n`
      const { body } = await uploadCsv(service, 'repayments', csv)
      t.same(body.errors, [
        { line: 4, reason: 'the row has 2 cells, and the header 6 columns' },
        { line: 5, reason: 'payment_reference has a NUL character in it' },
      ])
    },
  )

  t.test('the planner knows the rows of an upload, though the service owns no table', async t => {
    await uploadCsv(service, 'repayments', repaymentsCsv({}))
    const { rows } = await sql`
      select from pg_class where oid = 'loanops.migration_row'::regclass and reltuples > 0`.execute(
      service.db,
    )
    t.equal(rows.length, 1)
  })

  t.test('rows are held against each other where a statement may take long', async t => {
    await uploadCsv(service, 'repayments', repaymentsCsv({}))
    const { rows } = await sql`
      select from pg_stat_activity
       where datname = current_database() and application_name = 'loanops-migration'`.execute(
      service.db,
    )
    t.ok(rows.length > 0, 'it has connections of its own')
  })

  t.test('a request that is no such upload is refused', async t => {
    const post = async (...parts: [string, string | Blob][]) => {
      const form = new FormData()
      for (const [name, value] of parts) form.append(name, value as string)
      const response = await fetch(`${service.url}/api/migration/upload`, {
        method: 'POST',
        body: form,
        headers: { 'x-internal-token': TOKEN },
      })
      const body = (await response.json()) as any
      return [response.status, body.code, body.errors?.[0]?.path]
    }
    const file = new Blob([repaymentsCsv({})])
    const { count } = await uploads(service)
    const typed: [string, string] = ['type', 'repayments']
    t.same(await post(typed, ['file', file], ['x', '']), [400, 'INVALID_PAYLOAD', '/x'])
    t.same(await post(typed, ['file', file], ['file', file]), [400, 'INVALID_PAYLOAD', '/file'])
    t.same(await post(typed, typed, ['file', file]), [400, 'INVALID_PAYLOAD', '/type'])
    t.equal((await uploads(service)).count, count, 'and nothing of it is kept')
    t.same(await post(['type', 'clients'], ['file', file]), [400, 'INVALID_PAYLOAD', '/type'])
    t.same(await post(['file', file]), [400, 'INVALID_PAYLOAD', '/type'])
    t.same(await post(['type', 'loans']), [400, 'INVALID_PAYLOAD', '/file'])
    t.same(await post(['kind', 'loans']), [400, 'INVALID_PAYLOAD', '/kind'])
    t.same(await post(['type', 'loans'], ['csv', file]), [400, 'INVALID_PAYLOAD', '/csv'])
    t.equal((await service.call('POST', '/api/migration/upload', {})).status, 400)
    const large = new Blob([`${REPAYMENT_COLUMNS}x\n`, new Uint8Array(8 * 1024 * 1024)])
    t.same(await post(['type', 'repayments'], ['file', large]), [400, 'INVALID_PAYLOAD', undefined])
  })
})

async function uploads({ db }: TestService) {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from loanops.migration`.execute(db)
  return rows[0] ?? { count: 0 }
}

async function kept({ db }: TestService) {
  const { count } = await db
    .selectFrom('loanops.migration')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('status', '=', 'uploading')
    .executeTakeFirstOrThrow()
  return { rows: Number(count) }
}

/** The second part in Latin-1, what is around it in UTF-8. */
function mixed(utf8: string, latin1: string, after = '') {
  const parts = [Buffer.from(utf8), Buffer.from(latin1, 'latin1'), Buffer.from(after)]
  return new Uint8Array(Buffer.concat(parts))
}
