import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../src/database.ts'
import { uploadCsv } from '../support/migrate.ts'
import { repaymentsCsv } from '../support/rows.ts'
import { startTestService } from '../support/service.ts'

t.test('a file that is refused at its end leaves no rows', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const rows = Array.from({ length: 4_000 }, (_, n) => ({ payment_reference: `p-${n}` }))
  const csv = `${repaymentsCsv(...rows)}L-1,"`
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => uploadCsv(service, 'repayments', csv)),
  )
  t.same(
    answers.map(({ status }) => status),
    answers.map(() => 400),
  )
  t.equal(await countRows(service.db), 0)
})

async function countRows(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from loanops.migration_row`.execute(db)
  return rows[0]?.count ?? 0
}
