import { sql } from 'kysely'
import t from 'tap'
import type { Database, Trx } from '../../src/database/database.ts'
import { newId } from '../../src/ids.ts'
import { loanRules } from '../../src/portfolio/kinds/loans/rules.ts'
import { repaymentRules } from '../../src/portfolio/kinds/repayments/rules.ts'
import { checkAcross } from '../../src/portfolio/upload/check-across.ts'
import { buffersOf } from '../support/database/buffers.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'

const ROWS = 2_000
/** No step of the check may handle more rows than this multiple of the rows in the file. */
const MAX_TIMES = 5

t.test('a number that every client has is reported without a comparison of each pair', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  const id = newId()
  await sql`
    insert into loanops.migration_row (migration_id, line, state, cells, client_external_id, client_fields)
    select ${id}, line, 'valid', '[]', 'C-' || line, array['A', 'B', '9999999999', null, null]
      from generate_series(2, ${ROWS}::integer + 1) line`.execute(db)
  await sql`select loanops.analyze_migration_rows()`.execute(db)
  const check = (trx: Database) => checkAcross(trx as Trx, loanRules, id)
  const [touched] = await buffersOf(ownerUrl, check)
  t.ok(
    (touched?.rows as number) <= MAX_TIMES * ROWS,
    `the busiest step handles ${touched?.rows} rows of ${ROWS}`,
  )
  await db.transaction().execute(check)
  const { rows } = await sql<{ reported: number }>`
    select count(*)::integer as reported from loanops.migration_row where state = 'invalid'`.execute(
    db,
  )
  t.equal(rows[0]?.reported, ROWS, 'every row is reported')
})

t.test('a loan may be named by ten thousand repayments of a file, and by no more', async t => {
  const { db } = await freshDatabase(t)
  const id = newId()
  await sql`
    insert into loanops.migration_row (migration_id, line, state, cells, loan_external_id, receipt_number)
    select ${id}, line, 'valid', '[]', case when line <= 10000 then 'L-1' else 'L-2' end, line
      from generate_series(1, 20001) line`.execute(db)
  await db.transaction().execute(trx => checkAcross(trx, repaymentRules, id))
  const { rows } = await sql`
    select loan_external_id as loan, reason, count(*)::integer as count
      from loanops.migration_row group by 1, 2 order by 1`.execute(db)
  t.same(rows, [
    { loan: 'L-1', reason: null, count: 10_000 },
    { loan: 'L-2', reason: 'loan_external_id: more than 10000 rows name this loan', count: 10_001 },
  ])
})
