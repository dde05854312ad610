import { type RawBuilder, sql } from 'kysely'
import t from 'tap'
import { readHistory } from '../../src/console/home/history.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'

t.test('the overview counts a portfolio’s rows when they are accepted, and only then', async t => {
  const { db } = await freshDatabase(t)
  // Ids of a portfolio's rows do not begin with their time.
  const accept = (accepted: RawBuilder<unknown>) =>
    sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, accepted_at)
    select case origin when 'migration' then gen_random_uuid()
             else overlay(gen_random_uuid()::text placing left(core.first_id_at(now() - ago)::text, 14) from 1)::uuid end,
           'LOAN_APPROVE', origin, 'loan:' || n, n, '{}', now() - ago
      from (values ${accepted}) accepted (origin, ago, times)
     cross join lateral generate_series(1, times) n
     order by ago desc`.execute(db)
  const found = async () => {
    const { acceptedLastMinute, buckets } = await readHistory(db, 'Asia/Kolkata')
    const inSteps = buckets.map(({ accepted }) => accepted).filter(count => count > 0)
    return { acceptedLastMinute, inSteps }
  }
  await accept(sql`('api', interval '3 hours', 2), ('migration', interval '2 hours', 40)`)
  t.same(await found(), { acceptedLastMinute: 0, inSteps: [2, 40] })
  await accept(sql`('api', interval '1 hour', 1), ('payment', interval '30 seconds', 1),
    ('migration', interval '30 seconds', 3)`)
  t.same(await found(), { acceptedLastMinute: 4, inSteps: [2, 40, 1, 4] })
})
