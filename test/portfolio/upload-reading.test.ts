import { sql } from 'kysely'
import t from 'tap'
import { textOf, uploadCsv } from '../support/portfolio/migrate.ts'
import { REPAYMENT_COLUMNS } from '../support/portfolio/portfolio.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** All tests but the one that counts what is kept share this service. */
const service = await startTestService(t, { ROLE: 'api' })

t.test(
  'a file may have a BOM, CRLF, semicolons, tabs, quotes, blank lines, and columns in any order',
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
      bars: plain.replaceAll(',', '|'),
      wordsInTheHeader: plain.replace(REPAYMENT_COLUMNS, names => names.replaceAll('_', ' ')),
      quotes: plain.replaceAll(/[^,\n]+/g, '"$&"'),
      wrappedHeader: plain
        .replaceAll(',', '\t')
        .replace(/^.*/, names => names.replace(/\w+/g, '"$&"').replaceAll('_', '\r\n')),
      blank: plain.replaceAll('\n', '\n\n'),
      reversed,
      unended: plain.trim(),
      upperCase: plain.replace(REPAYMENT_COLUMNS, REPAYMENT_COLUMNS.toUpperCase()),
      without: plain.replaceAll(/,[^,]*$/gm, ''),
      otherDelimitersInCells: plain.replaceAll(',', ';').replace('paid', 'a, '.repeat(20)),
      otherEnds: plain.replace('\n', '\r\n'),
      joined: `${repaymentsCsv({})}\ufeff${repaymentsCsv({ payment_reference: 'p-2' })}`,
      joinedWider: `${repaymentsCsv({})}${repaymentsCsv({ payment_reference: 'p-2' }).replace(REPAYMENT_COLUMNS, names => `${names},,`)}`,
      joinedInOtherWords: `${repaymentsCsv({})}${repaymentsCsv({ payment_reference: 'p-2' }).replace(REPAYMENT_COLUMNS, names => names.toUpperCase().replaceAll('_', ' '))}`,
    }
    for (const [name, csv] of Object.entries(variants)) {
      const { body } = await uploadCsv(service, 'repayments', csv)
      t.match(body, { rows: 2, valid_rows: 2, invalid_rows: 0 }, name)
    }
  },
)

t.test('a file that was joined to one with other columns is refused', async t => {
  const [header = '', row = ''] = repaymentsCsv({ payment_reference: 'p-2' }).trim().split('\n')
  const reversed = [header, row].map(line => line.split(',').reverse().join())
  const others = {
    'in another order': reversed,
    fewer: [
      'loan_external_id,transaction_date,payment_reference,amount',
      'L-1,2024-02-12,45300,901',
    ],
    more: [header.replace('amount', 'amount,reason'), row.replace(',', ',,')],
  }
  for (const [name, lines] of Object.entries(others)) {
    const csv = [repaymentsCsv({}).trim(), ...lines].join('\n')
    const { status, body } = await uploadCsv(service, 'repayments', csv)
    const detail = /^Line 3: the header of another file, .*one by one/
    t.match({ status, body }, { status: 400, body: { detail } }, name)
  }
})

t.test('empty rows and columns, a last Ctrl-Z and a line with `sep=` are no data', async t => {
  const plain = repaymentsCsv({ note: 'paid' }, { amount: 'x', payment_reference: 'p-2' })
  const [header = '', first = '', second = ''] = plain.trim().split('\n')
  const wide = (count: number) => plain.replaceAll('\n', `${','.repeat(count)}\n`)
  const variants: [string, string, number][] = [
    ['rows of delimiters', `,,,\n${header}\n,,,,,\n${first}\n, ,"",\u00a0,\n${second}\n,,,,,\n`, 6],
    ['columns of nothing', wide(3), 3],
    ['a hundred columns of nothing', wide(200), 3],
    ['columns of blanks', plain.replaceAll('\n', ', ,\u00a0\n'), 3],
    ['only a row is wide', plain.replace(',\n', ',,,,\n'), 3],
    ['Ctrl-Z', `${plain}\x1a`, 3],
    ['Ctrl-Z after the last cell', `${plain.trim()}\x1a\x1a`, 3],
    ['sep=;', `sep=;\n${plain.replaceAll(',', ';')}`, 4],
    ['sep=, with a BOM and quotes', `\ufeff"sep=,"\r\n${plain.replaceAll('\n', '\r\n')}`, 4],
    ['sep= in a wide file', `sep=\t\t\t\n\n${wide(2).replaceAll(',', '\t')}`, 5],
  ]
  for (const [name, csv, line] of variants) {
    const { status, body } = await uploadCsv(service, 'repayments', csv)
    const reason =
      'amount must be a number in digits, without separators or a currency, and with a point before any decimals'
    t.match(
      { status, rows: body.rows, errors: body.errors },
      { status: 201, rows: 2, errors: [{ line, reason }] },
      name,
    )
  }
  const errors = await textOf(
    service,
    `/api/migration/${(await uploadCsv(service, 'repayments', wide(3))).body.migration_id}/errors.csv`,
  )
  t.match(errors, `${REPAYMENT_COLUMNS},reason\r\n`, 'the errors file has no empty columns')
})

t.test('UTF-16 with a mark at its start is read', async t => {
  const rows = Array.from({ length: 2_000 }, (_, n) => ({
    note: 'आशा 😀',
    payment_reference: `p-${n}`,
  }))
  const utf16 = Buffer.from(`\ufeff${repaymentsCsv(...rows, { amount: 'x' })}`, 'utf16le')
  const ids: string[] = []
  for (const file of [Buffer.from(utf16), Buffer.from(utf16).swap16()]) {
    const { body } = await uploadCsv(service, 'repayments', new Uint8Array(file))
    ids.push(body.migration_id)
    t.match(body, { rows: 2_001, valid_rows: 2_000, errors: [{ line: 2_002 }] })
  }
  const { rows: notes } = await sql<object>`
    select distinct cells::json ->> 5 as note from loanops.migration_row
     where state = 'valid' and migration_id = any(${ids})`.execute(service.db)
  t.same(notes, [{ note: 'आशा 😀' }])
})

t.test('a Ctrl-Z inside the file stays', async t => {
  const csv = `${repaymentsCsv({})}L-1,2024-02-12,1,p\x1a2,,\n`
  t.match((await uploadCsv(service, 'repayments', csv)).body, { rows: 2, errors: [{ line: 3 }] })
})

t.test('a Windows-1252 file is converted to the characters that were meant', async t => {
  const csv = loansCsv({ client_firstname: 'José', principal: 'none' })
  const { body } = await uploadCsv(service, 'loans', new Uint8Array(Buffer.from(csv, 'latin1')))
  const errors = await textOf(service, `/api/migration/${body.migration_id}/errors.csv`)
  t.match(errors, /José/)
  t.equal(
    errors.charCodeAt(0),
    0xfeff,
    'errors.csv starts with a BOM, which tells Excel that it is UTF-8',
  )
})

t.test('a large file can be read, whatever its first line and its rows start with', async t => {
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

t.test('lines are counted as an editor counts them, whatever line endings are used', async t => {
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

t.test('a file that cannot be read is refused with a message naming line and column', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
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
    [
      'a wrong column below other lines',
      `sep=,\n\n${good.replace('gateway', 'gatway')}`,
      /^Line 3: column 5 \("gatway"\)/,
    ],
    [
      'whole rows in quotes',
      good.replaceAll(/^.+$/gm, '"$&"'),
      /^Line 1: the whole row is one cell: separate its columns with commas/,
    ],
    [
      'a title',
      `Repayments: 01-02-2026 to 28-02-2026,,\n\n${good}`,
      /^Line 1: "Repayments: 01-02-2026 to 28-02-2026" is not a header: remove the lines above the header/,
    ],
    [
      'the only column misspelled',
      'loan_externl_id\nL-1\n',
      /^Line 1: "loan_externl_id" is not a column of repayments: loan_external_id may be meant/,
    ],
    ['column twice', good.replace('note', 'amount'), /Line 1: column 6 repeats amount/],
    [
      'open quote',
      withLine3('L-1,2024-02-12,"100,p-2,,'),
      /Line 3, column amount: a quote is opened but never closed/,
    ],
    [
      'open quote with more lines below',
      `${repaymentsCsv({ note: 'two\nlines' })}\nL-1,2024-02-12,"100,p-2,,\n\nL-1\n`.replaceAll(
        '\n',
        '\r\n',
      ),
      /Line 5, column amount: a quote is opened but never closed/,
    ],
    [
      'quote inside',
      withLine3('L-1,2024-02-12,1"00,p-2,,'),
      /Line 3, column amount: there is a quote inside an unquoted cell/,
    ],
    [
      'text after a quote',
      withLine3('L-1,2024-02-12,"1"00,p-2,,'),
      /Line 3, column amount: there is text after a closing quote/,
    ],
    [
      'two encodings',
      mixed(withLine3('L-1,2024-02-12,1,ü,,\nL-1,'), 'é'),
      /Line 4, character 5: the file is UTF-8 up to here/,
    ],
    [
      'two encodings with more text after them',
      mixed(withLine3('L-1,2024-02-12,1,ü,,\nL-1,2024-02-12,1,'), 'é,,\n'),
      /Line 4, character 18: the file is UTF-8 up to here/,
    ],
    [
      'two encodings, with the line ends of an old Mac',
      mixed(withLine3('L-1,2024-02-12,1,ü,,\nL-1,').replaceAll('\n', '\r'), 'é'),
      /Line 4, character 5: the file is UTF-8 up to here/,
    ],
    [
      'two encodings after a replacement character',
      mixed(withLine3('L-1,2024-02-12,1,\ufffd,,\nL-1,'), 'é'),
      /Line 4, character 5: the file is UTF-8 up to here/,
    ],
    [
      'two encodings, Windows-1252 first',
      mixed(good, 'L-1,2024-02-12,1,Ren\xe9,,\n', 'L-1,आशा'),
      /Line 5, character 5: the file is Windows-1252 up to here, and UTF-8 from here/,
    ],
    [
      'two encodings in one line, far into a Windows-1252 file',
      mixed('', `${good}${'L-1,2024-02-12,1,Ren\xe9,,\n'.repeat(10_000)}Ren\xe9 `, 'José'),
      /Line 10004, character 9: the file is Windows-1252 up to here/,
    ],
    ['nothing', '', /The file is empty/],
    ['only a header', REPAYMENT_COLUMNS, /no rows below its header/],
    ['not a CSV file', new Uint8Array(50_000).fill(7), /Line 1: the header does not end/],
  ]
  for (const [name, csv, sentence] of refused) {
    const { status, body } = await uploadCsv(service, 'repayments', csv)
    t.equal(status, 400, name)
    const errors = [{ path: '/file', message: sentence }]
    t.match(body, { code: 'INVALID_PAYLOAD', detail: sentence, errors }, name)
  }
  const { rows } = await kept(service)
  t.equal(rows, 0, 'nothing of them is stored')
})

async function kept({ db }: TestService) {
  const { count } = await db
    .selectFrom('loanops.migration')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('status', '=', 'uploading')
    .executeTakeFirstOrThrow()
  return { rows: Number(count) }
}

/** The second part is in Latin-1, the others in UTF-8. */
function mixed(utf8: string, latin1: string, after = '') {
  const parts = [Buffer.from(utf8), Buffer.from(latin1, 'latin1'), Buffer.from(after)]
  return new Uint8Array(Buffer.concat(parts))
}
