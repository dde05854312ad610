import { sql } from 'kysely'
import t from 'tap'
import { claimCallbacks, renewCallbacks } from '../../src/callbacks/sending/claim-callbacks.ts'
import type { Database } from '../../src/database/database.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'

t.test('renewing claimed callbacks waits for none that is being recorded', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    insert into loanops.callback (type, subject, about, occurred_at, body, sequence, is_next)
    select 'payment.posted', 'loan:L-' || n, raw.new_id(), now(), '{}', 1, true
      from generate_series(1, 3) n`.execute(db)
  const claimed = await claimCallbacks(db, 3)
  t.equal(claimed.length, 3)
  await sql`update loanops.callback set next_try_at = now()`.execute(db)
  const [recorded, ...others] = claimed.map(({ id }) => id)
  await db.transaction().execute(async trx => {
    await sql`select from loanops.callback where id = ${recorded} for update`.execute(trx)
    await db.transaction().execute(async renewing => {
      await sql`set local lock_timeout = '1s'`.execute(renewing)
      await renewCallbacks(renewing, claimed)
    })
  })
  t.same(await renewed(db), others.sort())
})

async function renewed(db: Database): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from loanops.callback where next_try_at > now() order by id`.execute(db)
  return rows.map(({ id }) => id)
}
