import { sql } from 'kysely'
import t from 'tap'
import { purgeCallbacks } from '../../src/callbacks/callbacks-feature.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'

t.test('the retention of a callback begins when it was delivered or has failed', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    insert into loanops.callback (type, subject, about, occurred_at, state, created_at, delivered_at, next_try_at)
    select 'payment.posted', subject, raw.new_id(), now(), state, now() - interval '4 days', delivered_at, next_try_at
      from (values ('failed long ago', 'failed', null, now() - interval '73 hours'),
                   ('just failed', 'failed', null, now()),
                   ('delivered long ago', 'delivered', now() - interval '73 hours', now()),
                   ('just delivered', 'delivered', now(), now() - interval '73 hours'),
                   ('still tried', 'pending', null, now() - interval '73 hours'))
        c (subject, state, delivered_at, next_try_at)`.execute(db)
  t.equal(await purgeCallbacks(db, 3), 2)
  const { rows } = await sql`select subject from loanops.callback order by 1`.execute(db)
  t.same(
    rows,
    ['just delivered', 'just failed', 'still tried'].map(subject => ({ subject })),
  )
})
