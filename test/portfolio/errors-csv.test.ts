import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { asCsv } from '../../src/csv/as-csv.ts'
import { escapeFormula, unescapeFormula } from '../../src/csv/formula.ts'
import { matchEach } from '../support/match-each.ts'
import { errorsOf, textOf, uploadCsv } from '../support/portfolio/migrate.ts'
import { REPAYMENT_COLUMNS } from '../support/portfolio/portfolio.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'

// Shared: each test reads only the migrations that it uploads, and an upload is checked against itself alone.
const service = await startTestService(t, { ROLE: 'api' })

t.test('errors.csv has the uploaded columns and invalid rows unchanged, with reasons', async t => {
  const csv = loansCsv(
    {},
    {
      loan_external_id: 'L-2',
      principal: ' 1,5 ',
      client_external_id: 'C-2',
      client_firstname: 'A "B"\nC',
    },
  )
  const { body } = await uploadCsv(service, 'loans', csv)
  const rows = parse(await errorsOf(service, body.migration_id)) as string[][]
  const [header, , bad] = parse(csv) as [string[], string[], string[]]
  t.same(rows[0], [...header, 'reason'])
  t.same(rows[1]?.slice(0, -1), bad)
  t.match(rows[1]?.at(-1), /principal must be a number/)
  t.equal(rows.length, 2)
})

t.test('errors.csv can be corrected and uploaded; uncorrected, it has the same errors', async t => {
  const csv = repaymentsCsv({ amount: 'x', loan_external_id: 'E-1', note: '=1+1' }).replaceAll(
    ',',
    ';',
  )
  const { body } = await uploadCsv(service, 'repayments', csv)
  const errors = await errorsOf(service, body.migration_id)
  t.match(errors, /;'=1\+1;/, 'it keeps the delimiter and contains no formula')
  const again = await uploadCsv(service, 'repayments', errors)
  t.match(again.body, { invalid_rows: 1 })
  t.equal(await errorsOf(service, again.body.migration_id), errors)
  const corrected = await uploadCsv(service, 'repayments', errors.replace(';x;', ';10.00;'))
  t.match(corrected.body, { valid_rows: 1, invalid_rows: 0 })
  const { cells } = await service.db
    .selectFrom('loanops.migration_row')
    .select('cells')
    .where('migration_id', '=', corrected.body.migration_id)
    .executeTakeFirstOrThrow()
  t.equal(JSON.parse(cells)[5], '=1+1', 'the note is the one from the first upload')
})

t.test('the apostrophe before a formula is removed with or without the reason column', async t => {
  const kept = async (references: string[]) => {
    const csv = repaymentsCsv(...references.map(payment_reference => ({ payment_reference })))
    const { migration_id } = (await uploadCsv(service, 'repayments', csv)).body
    const rows = await service.db
      .selectFrom('loanops.migration_row')
      .select('cells')
      .where('migration_id', '=', migration_id)
      .orderBy('line')
      .execute()
    return rows.map(({ cells }) => JSON.parse(cells)[3])
  }
  t.same(await kept(["'+919", "'-1", "'=1", "'@a"]), ['+919', '-1', '=1', '@a'])
  const names = ["'s-Hertogenbosch", "'1", "''a", "a'+1", "'"]
  t.same(await kept(names), names, 'other apostrophes stay')
})
t.test('a download of errors.csv or findings.csv is audited', async t => {
  const { body } = await uploadCsv(service, 'loans', loansCsv({ principal: 'x' }))
  await errorsOf(service, body.migration_id)
  await textOf(service, `/api/migration/${body.migration_id}/findings.csv`)
  const { rows } = await sql`
      select actor, host(address) as address, request_id, detail from ops.audit
       where action = 'migration.download' and subject = ${body.migration_id}
        order by id`.execute(service.db)
  const from = { address: '127.0.0.1', request_id: /^[0-9a-f-]{36}$/ }
  matchEach(
    t,
    rows,
    ['errors.csv', 'findings.csv'].map(file => ({
      actor: 'internal-token',
      ...from,
      detail: { file },
    })),
  )
})

t.test('a row with too few cells has its reason in the reason column', async t => {
  const csv = `${repaymentsCsv({})}L-1,2024-02-12\nL-2,2024-02-12,5\n`
  const { body } = await uploadCsv(service, 'repayments', csv)
  const errors = await errorsOf(service, body.migration_id)
  const reason = (cells: number) =>
    `the row has ${cells} cells, but the header has 6 columns: end it with the delimiters of its empty cells`
  t.same(parse(errors), [
    [...REPAYMENT_COLUMNS.split(','), 'reason'],
    ['L-1', '2024-02-12', '', '', '', '', reason(2)],
    ['L-2', '2024-02-12', '5', '', '', '', reason(3)],
  ])
})

t.test('a row with too few cells gets no other cells when it is uploaded again', async t => {
  const csv = `${repaymentsCsv({})}L-1,2024-02-12\nL-2,2024-02-12,5,p-2\n`
  const { body } = await uploadCsv(service, 'repayments', csv)
  const errors = await errorsOf(service, body.migration_id)
  const { body: again } = await uploadCsv(service, 'repayments', `${errors}L-2,2024-02-12,5,p-2\n`)
  t.match(again, { rows: 2, valid_rows: 1, invalid_rows: 1 })
  t.match(again.errors[0].reason, /amount is required.*payment_reference is required/)
  const { cells } = await service.db
    .selectFrom('loanops.migration_row')
    .select('cells')
    .where('migration_id', '=', again.migration_id)
    .where('state', '=', 'valid')
    .executeTakeFirstOrThrow()
  t.same(JSON.parse(cells), ['L-2', '2024-02-12', '5', 'p-2'])
})

t.test('a row with too many cells keeps all of them, however often it is uploaded', async t => {
  const csv = `${repaymentsCsv({})}L-1,2024-02-12,1,000,p-1,,paid\n`
  const { body } = await uploadCsv(service, 'repayments', csv)
  let errors = await errorsOf(service, body.migration_id)
  for (const round of [1, 2]) {
    const again = await uploadCsv(service, 'repayments', errors)
    errors = await errorsOf(service, again.body.migration_id)
    const [, row] = parse(errors, { relax_column_count: true }) as string[][]
    t.same(
      row,
      [
        ...['L-1', '2024-02-12', '1', '000', 'p-1', '', 'paid'],
        'the row has 8 cells, but the header has 7 columns: put quotes around a cell that contains a comma',
      ],
      `round ${round}`,
    )
  }
})

t.test('any cells survive quoting and escaping unchanged', async t => {
  const cell = fc.oneof(
    fc.string(),
    fc.stringMatching(/^'{0,3}[=+\-@\t][a-z",;\r\n ]{0,5}$/),
    fc.stringMatching(/^[a;"' =+\-@\t\n]{0,8}$/),
  )
  fc.assert(
    fc.property(
      fc.array(cell, { minLength: 1 }),
      fc.constantFrom(',', ';', '\t'),
      (cells, delimiter) => {
        const line = asCsv([cells.map(escapeFormula)], delimiter)
        const [row] = parse(line, { delimiter, skip_empty_lines: false }) as string[][]
        t.ok(row?.every(one => !/^[=+\-@\t\r]/.test(one) || Number.isFinite(Number(one))))
        t.same(row?.map(unescapeFormula), cells)
        const [, ...bySemicolons] = delimiter === ',' ? line.trimEnd().split(/[;\r\n]/) : []
        t.notOk(bySemicolons.find(one => /^["\s]*[=+\-@]/.test(one)))
      },
    ),
    { numRuns: 300 },
  )
})

t.test('no cell begins with what any spreadsheet takes for a formula', t => {
  for (const space of ['', ' ', '\t', '\r', '\n', '\r\n', '\u00a0', '\u3000'])
    for (const sign of ['=', '+', '-', '@', '＝', '＋', '－', '＠']) {
      const cell = `${space}${sign}1+1`
      const within = /[\r\n]/.test(space) ? "'" : ''
      t.equal(escapeFormula(cell), `'${space}${within}${sign}1+1`, JSON.stringify(cell))
      for (const escaped of [escapeFormula(cell), `'${cell}`])
        t.equal(unescapeFormula(escaped), cell)
    }
  t.equal(escapeFormula('1 = 1'), '1 = 1')
  t.equal(escapeFormula('a;"=1+1'), `a;"'=1+1`, 'for a spreadsheet that separates by semicolons')
  t.end()
})

t.test('a negative amount stays a number, which sums count', t => {
  for (const amount of ['-12.50', '-0.005', '-5', '-9999999999999.99']) {
    t.equal(escapeFormula(amount), amount)
    for (const cell of [amount, `'${amount}`, `''${amount}`])
      t.equal(unescapeFormula(escapeFormula(cell)), cell)
    t.equal(unescapeFormula(`'${amount}`), amount, 'as a file of an earlier version has it')
  }
  const others = [
    '-1+cmd',
    '-1-1',
    '-',
    '--5',
    '+5',
    '-.5',
    '-5.',
    '-1.2345',
    '-1e5',
    ' -5',
    '-5\n',
  ]
  for (const cell of [...others, '-5;-5', '-1 ', '-0012', '-12345678901234'])
    t.match(escapeFormula(cell), /^'/, JSON.stringify(cell))
  t.end()
})

t.test(
  'a semicolon or line break, which some take for a cell’s end, begins no formula',
  async t => {
    const hidden = fc.stringMatching(/^[a;' =+\-@＝\r\n]{0,9}$/)
    fc.assert(
      fc.property(fc.array(hidden, { minLength: 1 }), cells => {
        const parts = asCsv([cells.map(escapeFormula)])
          .split(/[;\r\n]/)
          .slice(1)
        t.ok(parts.every(one => !/^\s*[=+\-@＝]/.test(one)))
      }),
    )
    t.equal(escapeFormula('paid;=2+5'), "paid;'=2+5")
    t.equal(escapeFormula('paid\n=2+5;'), "paid\n'=2+5;")
    // The time of this process alone: on a busy machine, it waits for others.
    const started = process.cpuUsage()
    for (const long of [' '.repeat(1e6), ';'.repeat(1e6), "';".repeat(5e5), '\n'.repeat(1e6)])
      for (const end of ['', 'a', '=']) unescapeFormula(escapeFormula(long + end))
    const { user } = process.cpuUsage(started)
    t.ok(user < 2_000_000, 'a long cell takes no longer than it must')
  },
)
