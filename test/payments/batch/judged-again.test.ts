import { sql } from 'kysely'
import t from 'tap'
import { REASONS } from '../../../src/payments/suspense-reasons.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'

t.test('new events judge again what was refused for these reasons, and for no others', async t => {
  const { db } = await freshDatabase(t)
  const { rows } = await sql<{ reason: string }>`
    select reason from unnest(${REASONS}::text[]) reason
     where core.standing_refusal(reason, null, is_reopened => false) is null`.execute(db)
  t.same(
    rows.map(({ reason }) => reason),
    [
      'currency_mismatch',
      'lender_mismatch',
      'signature_not_verified',
      'sender_not_allowed',
      'events_disagree',
      'amount_invalid',
    ],
  )
})
