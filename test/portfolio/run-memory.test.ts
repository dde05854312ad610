import { sql } from 'kysely'
import t from 'tap'
import { ended, uploadCsv } from '../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'
import { smallProcess } from '../support/small-process.ts'

const ROWS = 2_000
const CELL = 18_000

t.test('the process stays below 300 MiB while it runs a file of huge cells', async t => {
  const service = await smallProcess(t, 'all')
  const { db, call } = service
  const padded = (text: string) => text.padEnd(CELL)
  const csv = repaymentsCsv({
    loan_external_id: padded('L-1'),
    transaction_date: padded('2024-02-12'),
    amount: padded('100'),
    payment_reference: padded('p-1'),
    note: padded('of a test'),
  })
  const { migration_id } = (await uploadCsv(service, 'repayments', csv)).body
  // Much quicker than to upload them all, which has a test of its own.
  await sql`
    insert into loanops.migration_row (migration_id, line, state, cells, loan_external_id, receipt_number, on_date)
    select migration_id, line + n, state, replace(cells, 'p-1', 'p-1' || n), loan_external_id, 'p-1' || n, on_date
      from loanops.migration_row, generate_series(1, ${ROWS - 1}) as n
     where migration_id = ${migration_id}`.execute(db)
  await sql`select loanops.analyze_migration_rows()`.execute(db)
  await sql`
    update loanops.migration set rows = ${ROWS}, valid_rows = ${ROWS}
     where id = ${migration_id}`.execute(db)

  await t.test('the process stays small during a dry run', async t => {
    await call('POST', '/api/migration/run', { migration_id, dry_run: true })
    t.match((await ended(service, migration_id)).dry_run, { refused: ROWS })
    service.isSmall(t)
  })

  await t.test('the process stays small during a run', async t => {
    await call('POST', '/api/migration/run', { migration_id })
    t.match(await ended(service, migration_id), { failed: 1, stopped: ROWS - 1 })
    service.isSmall(t)
  })
})
