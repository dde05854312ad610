import { sql } from 'kysely'
import t from 'tap'
import type { Database, Trx } from '../../src/database/database.ts'
import { newId } from '../../src/ids.ts'
import { loanRules } from '../../src/portfolio/kinds/loans/rules.ts'
import { checkAcross } from '../../src/portfolio/upload/check-across.ts'
import { buffersOf } from '../support/database/buffers.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { clientData } from '../support/ledger/loans.ts'
import { matchEach } from '../support/match-each.ts'
import { withLedger } from '../support/payments/payments.ts'
import { ended, migrateCsv, rowsOf, uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { operate, startTestService } from '../support/service.ts'

const ROWS = 1_000
const OPERATIONS = 20_000
const REMEDY = 'format the column as text in the spreadsheet, and enter the value as it was issued'
const loan = (loan_external_id: string, client_external_id: string) => ({
  loan_external_id,
  client_external_id,
})

t.test('ids that differ from known ones in zeros before them are errors', async t => {
  const service = await startTestService(t)
  const known = loansCsv(loan('00059157', '0059157'), loan('7001', '801'), loan('L-007', 'C-007'))
  t.match(await migrateCsv(service, 'loans', known), { done: 3 })
  const own = { ...clientData('0042'), activationDate: '05 January 2024' }
  t.match(await operate(service.call, 'CLIENT_CREATE', own), { status: 'success' })
  const errorsOf = async (type: string, csv: string) =>
    (await uploadCsv(service, type, csv)).body.errors

  const saved = loansCsv(loan('59157', '59157'), loan('07001', '801'), loan('9', '42'))
  matchEach(t, await errorsOf('loans', saved), [
    {
      line: 2,
      reason: `client_external_id: the client exists as 0059157: ${REMEDY}; loan_external_id: the loan exists as 00059157: ${REMEDY}`,
    },
    { line: 3, reason: `loan_external_id: the loan exists as 7001: ${REMEDY}` },
    { line: 4, reason: `client_external_id: the client exists as 0042: ${REMEDY}` },
  ])
  const sound = loansCsv(loan('L-7', 'C-7'), loan('0059157x', 'c-007'), loan('801', '7001'))
  t.same(await errorsOf('loans', sound), [], 'other ids, and one number of a client and a loan')
  t.match(await migrateCsv(service, 'loans', known), { done: 3 }, 'the same file again')
})

t.test('a repayment is booked on the loan that it names, whatever other ids there are', async t => {
  const service = withLedger(await startTestService(t))
  const known = loansCsv(loan('00059157', 'C-1'), loan('0077', 'C-2'))
  t.match(await migrateCsv(service, 'loans', known), { done: 2 })
  // Somebody made this one at the ledger.
  await service.loan('77')
  const paid = ['00059157', '0077', '77'].map(loan_external_id => ({ loan_external_id }))
  t.match(await migrateCsv(service, 'repayments', repaymentsCsv(...paid)), { done: 3, failed: 0 })
  const damaged = repaymentsCsv({ loan_external_id: '59157' }, { loan_external_id: '8' })
  const { migration_id } = await migrateCsv(service, 'repayments', damaged, { dry_run: true })
  await service.call('POST', '/api/migration/run', { migration_id })
  t.match(await ended(service, migration_id), { done: 0, failed: 2 })
  const said = `LoanOps knows the loan 00059157: ${REMEDY}`
  const rows = await rowsOf(service, migration_id)
  matchEach(t, rows, [
    {
      finding_reason: `the ledger has no such loan, but ${said}`,
      reason: new RegExp(`The ledger has no loan 59157, but ${said}$`),
    },
    { finding_reason: 'the ledger has no such loan' },
  ])
})

t.test('a loan that was deleted makes no other id wrong, until it is made again', async t => {
  const { db } = await freshDatabase(t)
  await known(db, ['0077', 'success'])
  t.same(await invalid(db, ['77']), ['77'])
  await known(db, ['0077', 'failed', 'LOAN_DELETE'])
  t.same(await invalid(db, ['77']), ['77'])
  await known(db, ['0077', 'success', 'LOAN_DELETE'])
  t.same(await invalid(db, ['77']), [])
  await known(db, ['0077', 'success'])
  t.same(await invalid(db, ['77']), ['77'])
})

t.test('two ids of a file that differ in zeros before them are errors', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const csv = loansCsv(loan('0012', '5'), loan('12', '05'), loan('13', '5'), loan('14', '6'))
  matchEach(t, (await uploadCsv(service, 'loans', csv)).body.errors, [
    { line: 2, reason: /^client_external_id: line 3 has 05: .*loan_external_id: line 3 has 12: / },
    { line: 3, reason: /^client_external_id: line 2 has 5: .*loan_external_id: line 2 has 0012: / },
    { line: 4, reason: `client_external_id: line 3 has 05: ${REMEDY}` },
  ])
})

t.test('a failed operation makes no loan known, and one that is known stays valid', async t => {
  const { db } = await freshDatabase(t)
  await known(db, ['007', 'failed'], ['08', 'success'], ['8', 'processing'])
  t.same(await invalid(db, ['7', '8', '08', '9']), [])
  t.same(await invalid(db, ['008']), ['008'])
})

t.test('ids are looked up by index among any number of operations', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, processed_at)
    select gen_random_uuid(), 'LOAN_CREATE', 'api', 'loan:' || n, n, '{}', 'success', now()
      from (select '0' || n as n from generate_series(1, ${OPERATIONS}::integer) n) n`.execute(db)
  const id = await fileOf(
    db,
    Array.from({ length: ROWS }, (_, n) => String(n + 1)),
  )
  const check = (trx: Database) => checkAcross(trx as Trx, loanRules, id)
  const [touched] = await buffersOf(ownerUrl, check)
  t.ok((touched?.rows as number) < OPERATIONS, `the busiest step handles ${touched?.rows} rows`)
})

async function known(db: Database, ...loans: [id: string, status: string, type?: string][]) {
  for (const [id, status, type = 'LOAN_CREATE'] of loans)
    await sql`
      insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, processed_at)
      values (gen_random_uuid(), ${type}, 'api', ${`loan:${id}`}, ${id}, '{}', ${status},
              case when ${status} <> 'processing' then now() end)`.execute(db)
}

/** The ids that are errors in a file of loans. */
async function invalid(db: Database, loans: string[]): Promise<string[]> {
  const id = await fileOf(db, loans)
  await db.transaction().execute(trx => checkAcross(trx as Trx, loanRules, id))
  const { rows } = await sql<{ loan: string }>`
    select loan_external_id as loan from loanops.migration_row
     where migration_id = ${id} and state = 'invalid' order by line`.execute(db)
  return rows.map(row => row.loan)
}

async function fileOf(db: Database, loans: string[]): Promise<string> {
  const id = newId()
  await sql`
    insert into loanops.migration_row (migration_id, line, state, cells, loan_external_id)
    select ${id}, line + 1, 'valid', '[]', loan
     from unnest(${loans}::text[]) with ordinality as t (loan, line)`.execute(db)
  await sql`select loanops.analyze_migration_rows()`.execute(db)
  return id
}
