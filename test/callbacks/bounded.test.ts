import { sql } from 'kysely'
import t from 'tap'
import { claimCallbacks } from '../../src/callbacks/sending/claim-callbacks.ts'
import { buffersOf } from '../support/database/buffers.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'

const PENDING = 20_000
const CLAIMED = 16
/** It may read the callbacks that it claims, from both ends, and a few more. */
const MAX_ROWS = 100

t.test('claiming callbacks reads no more of them, however many wait', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  await sql`
    insert into loanops.callback (type, subject, about, occurred_at, snapshot, body, sequence, is_next)
    select 'payment.posted', 'loan:L-' || n, raw.new_id(), now(), '{}', '{}', 1, true
      from generate_series(1, ${PENDING}) n`.execute(db)
  const claimed: unknown[] = []
  const touched = await buffersOf(ownerUrl, async db => {
    await sql`analyze loanops.callback`.execute(db)
    claimed.push(...(await claimCallbacks(db, CLAIMED)))
  })
  t.equal(claimed.length, CLAIMED)
  for (const { rows, statement } of touched) t.ok(rows <= MAX_ROWS, `${rows} rows: ${statement}`)
})
