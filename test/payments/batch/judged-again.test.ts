import { sql } from 'kysely'
import t from 'tap'
import { REASONS, reasonIs } from '../../../src/payments/suspense-reasons.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'

t.test('new events judge again the refusals that are so marked, and no others', async t => {
  const { db } = await freshDatabase(t)
  const { rows } = await sql<{ reason: string }>`
    select reason from unnest(${REASONS}::text[]) reason
     where core.standing_refusal(reason, null, is_reopened => false) is null`.execute(db)
  t.same(
    rows.map(({ reason }) => reason),
    REASONS.filter(reason => reasonIs('judged_again', reason)),
  )
})
