import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { parse } from 'node-html-parser'
import t from 'tap'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { sendFile, startWithConsole } from '../support/console/console.ts'
import { MAIN } from '../support/main.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { TOKEN } from '../support/service.ts'

type Bytes = Uint8Array<ArrayBuffer>
const bytes = (latin1: string): Bytes => new Uint8Array(Buffer.from(latin1, 'latin1'))
const utf16 = (text: string): Bytes => new Uint8Array(Buffer.from(text, 'utf16le'))
const swapped = (one: Bytes): Bytes => new Uint8Array(Buffer.from(one).swap16())
const zip = (entry: string) => bytes(`PK\x03\x04${'\0'.repeat(26)}${entry}${'\n'.repeat(200)}`)

const LOANS = loansCsv({})
const REPAYMENTS = repaymentsCsv({})
const STATEMENT = `${STATEMENT_HEADER}\npay_1,7.00,INR,captured,2026-02-05T10:00:00Z,,,,,\n`
const EXPORT_A =
  'id,amount,currency,status,method,created_at\npay_1,7,INR,captured,upi,2026-02-05\n'

const WORKBOOK = /^The file is a workbook, not a CSV file: open it and save it as CSV UTF-8$/
const PAGE = /^The file is a web page or XML, not a CSV file: open it and save it as CSV UTF-8$/
const WITHOUT_MARK = /^The file is UTF-16 without a mark at its start: save it as CSV UTF-8$/
const UNPACK = /: unpack it and upload the CSV file inside$/
const EXPORT = /: export the data as CSV from the program that made it$/
/** Files by their names that are no text, or not in an encoding that can be told. */
const FORMATS: Record<string, [string | Bytes, RegExp]> = {
  'an xlsx': [zip('[Content_Types].xml'), WORKBOOK],
  'an xlsx of another program': [zip('xl/workbook.xml'), WORKBOOK],
  'an ods': [zip('mimetypeapplication/vnd.oasis.opendocument.spreadsheet'), WORKBOOK],
  'a zip': [zip('loans.csv'), /^The file is a zip archive, not a CSV file: unpack it/],
  'an empty zip': [bytes(`PK\x05\x06${'\0'.repeat(18)}`), UNPACK],
  'an xls': [bytes('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0'), /^The file is a workbook of an old Ex/],
  'a gzip': [new Uint8Array(gzipSync(LOANS)), /^The file is compressed with gzip: unpack it/],
  'a 7z': [bytes('7z\xbc\xaf\x27\x1c\0\x04'), UNPACK],
  'a PDF': [bytes('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n'), EXPORT],
  'an RTF': [bytes('{\\rtf1\\ansi\\deff0\n'), /^The file is RTF, .*: export the data as CSV/],
  'an HTML saved as xls': [bytes('\xef\xbb\xbf\r\n <html xmlns:x="urn:x">\n<table>'), PAGE],
  'an HTML table': [bytes('<TABLE border=1>\n<tr><td>loan_external_id</td></tr>'), PAGE],
  'an HTML in UTF-16': [utf16('\ufeff<html>\n<table>'), PAGE],
  'a web page in one file': [bytes('MIME-Version: 1.0\nContent-Type: multipart/related'), PAGE],
  'an XML workbook': [bytes('<?xml version="1.0"?>\n<Workbook>'), PAGE],
  JSON: [bytes('\n [{"loan_external_id": "L-1"}]\n'), /^The file is JSON, .*: export the data/],
  'JSON of one long line': [bytes(`{"rows":[${'"L-1",'.repeat(9_000)}`), /^The file is JSON/],
  'UTF-16 without a mark': [utf16(LOANS), WITHOUT_MARK],
  'UTF-16 without a mark, swapped': [swapped(utf16(LOANS)), WITHOUT_MARK],
  'UTF-16 with half of a character': [
    utf16(`\ufeff${LOANS}\ud800,`),
    /^The file is UTF-16 with a character that does not exist, or has been cut off: upload the whole file, or save it as CSV UTF-8$/,
  ],
  'UTF-32': [bytes(`\xff\xfe\0\0${'l\0\0\0'.repeat(50)}`), /^The file is UTF-32: save it as CSV/],
  'a picture': [
    bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'),
    /^The file is not text, .*: export the data/,
  ],
}
/** Files of another type, with what they are at each place. */
const OF_LOANS = {
  repayments: [
    REPAYMENTS,
    /^This is a file of repayments, not a file of loans: choose repayments as/,
  ],
  'a statement': [
    STATEMENT,
    /^This is a statement of a gateway, not a file of loans: upload it as a/,
  ],
  'an export of gateway A': [
    EXPORT_A,
    /^This is a report of payments of gateway A, not a file of l/,
  ],
} as const
const OF_STATEMENTS = {
  loans: [
    LOANS,
    /^This is a file of loans, not a report of gateway_b: upload it as a portfolio of/,
  ],
  repayments: [
    REPAYMENTS,
    /^This is a file of repayments, not a report of gateway_b: upload it as/,
  ],
  'the other gateway': [
    EXPORT_A,
    /^This is a report .* A, not a report of gateway_b: choose gateway_a/,
  ],
} as const

/** Forms with a file, and the pages that they are on. */
const PORTFOLIO = { page: '/console/portfolio', path: '/console/portfolio/upload' }
const STATEMENTS = { page: '/console/backfills', path: '/console/statements' }

const service = await startWithConsole(t)
const { url } = service
const statementPath = 'gateway_b/statement?lender=LENDER_02'
const ofStatement = { gateway: 'gateway_b', lender: 'LENDER_02' }

t.test('each upload says in one sentence what a file is that it cannot take', async t => {
  for (const [name, [file, sentence]] of Object.entries({ ...FORMATS, ...OF_LOANS })) {
    const { status, body } = await uploadCsv(service, 'loans', file)
    t.match(
      { status, ...body },
      { status: 400, errors: [{ path: '/file', message: sentence }] },
      name,
    )
  }
  t.match((await uploadCsv(service, 'repayments', LOANS)).body.errors, [
    {
      path: '/file',
      message: /^This is a file of loans, not a file of repayments: choose loans as its type$/,
    },
  ])
  for (const [name, [file, sentence]] of Object.entries({ ...FORMATS, ...OF_STATEMENTS })) {
    const { status, body } = await uploadStatement(url, statementPath, file)
    t.match(
      { status, ...body },
      { status: 400, errors: [{ path: '/file', message: sentence }] },
      name,
    )
  }
})

t.test('a list of payments from the console is not called a statement', async t => {
  const list = 'gateway_payment_id,state,amount,external_loan_id\npay_1,posted,5.00,L-1\n'
  const { body } = await uploadCsv(service, 'repayments', list)
  t.match(body.detail, /^Line 1: column 1 \("gateway_payment_id"\) is not a column of repayments/)
})

t.test('the console says once why it cannot take a file, in the form that sent it', async t => {
  const sent: [
    typeof PORTFOLIO,
    Record<string, string>,
    Record<string, readonly [string | Bytes, RegExp]>,
  ][] = [
    [PORTFOLIO, { type: 'loans' }, { ...FORMATS, ...OF_LOANS }],
    [STATEMENTS, ofStatement, { ...FORMATS, ...OF_STATEMENTS }],
  ]
  for (const [form, fields, files] of sent)
    for (const [name, [file, sentence]] of Object.entries(files)) {
      const answer = await sendFile(service, form, fields, new File([file], 'x.csv'))
      const shown = parse(answer.text)
        .querySelectorAll('main [role=alert] :is(li, p), main [id$="-refused"]')
        .filter(({ innerText }) => sentence.test(innerText.trim()))
      t.same([answer.status, shown.length], [400, 1], `${form.path}: ${name}`)
    }
})

t.test('UTF-16 with a mark at its start is read wherever it is uploaded', async t => {
  const [loans, statement] = [LOANS, STATEMENT].map(text => utf16(`\ufeff${text}`)) as [
    Bytes,
    Bytes,
  ]
  for (const turned of [(one: Bytes) => one, swapped]) {
    t.equal((await uploadCsv(service, 'loans', turned(loans))).status, 201)
    t.equal((await uploadStatement(url, statementPath, turned(statement))).status, 201)
    const file = (bytes: Bytes) => new File([turned(bytes)], 'utf16.csv')
    t.equal((await sendFile(service, PORTFOLIO, { type: 'loans' }, file(loans))).status, 303)
    t.equal((await sendFile(service, STATEMENTS, ofStatement, file(statement))).status, 303)
  }
})

t.test('a wrong header leads to the template at the place of the upload', async t => {
  const wrong = new File(['loan,amount\n1,2\n'], 'x.csv')
  const api = await uploadCsv(service, 'repayments', 'loan,amount\n1,2\n')
  t.match(api.body.detail, /The template is at \/api\/migration\/templates\/repayments\.csv$/)
  const statement = await uploadStatement(url, statementPath, 'loan,amount\n1,2\n')
  t.match(statement.body.detail, /The template is at \/api\/gateways\/statement-template\.csv$/)
  for (const [form, fields, link] of [
    [PORTFOLIO, { type: 'repayments' }, '/console/portfolio/templates/repayments.csv'],
    [STATEMENTS, ofStatement, '/console/statements/template.csv'],
  ] as const) {
    const { text } = await sendFile(service, form, fields, wrong)
    t.notMatch(text, '/api/')
    t.match(text, `The template is at <a href="${link}" download>${link}</a>`)
    t.equal((await service.operator(link)).status, 200, link)
  }
})

t.test('a refused form with a file keeps what was chosen', async t => {
  const file = new File(['x'], 'x.csv')
  const { text } = await sendFile(service, PORTFOLIO, { type: 'repayments' }, file)
  t.match(text, '<option value="repayments" selected>')
})

t.test('a stranger’s column that looks like our link stays text', async t => {
  const file = new File(['/console/logout.csv,The template is at /console/x.csv\n1,2\n'], 'x.csv')
  const { text } = await sendFile(service, PORTFOLIO, { type: 'loans' }, file)
  t.notMatch(text, 'href="/console/x.csv"')
  t.match(text, /is not a column of loans/)
})

t.test('migrate-portfolio recognises a file by its header, however it is written', async t => {
  const folder = t.testdir()
  const run = (name: string, content: string | Bytes) => {
    const file = join(folder, name)
    writeFileSync(file, content)
    return migrate(file)
  }
  for (const [name, content] of Object.entries({
    'capitals.csv': REPAYMENTS.replace(/.*/, header => header.toUpperCase()),
    'utf16.csv': utf16(`\ufeff${REPAYMENTS}`),
    'sep.csv': `sep=;\r\n\r\n${REPAYMENTS.replaceAll(',', ';')}`,
    'misspelt.csv': REPAYMENTS.replace('payment_reference', 'reference_no'),
  }))
    t.match(await run(name, content), /uploading repayments/, name)
  t.match(await run('x.csv', zip('xl/')), /x\.csv: The file is a workbook, not a CSV file/)
  t.match(await run('y.csv', STATEMENT), /This is a statement of a gateway, not a file of/)
})

/** @returns what it prints */
function migrate(file: string): Promise<string> {
  const env = { ...process.env, LOANOPS_URL: url, INTERNAL_TOKEN: TOKEN }
  return new Promise(resolve => {
    const args = [MAIN, 'migrate-portfolio', '--dry-run', file]
    execFile(process.execPath, args, { env }, (_, out, err) => resolve(out + err))
  })
}
