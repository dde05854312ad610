import { sql } from 'kysely'
import t from 'tap'
import { purgeAttempts } from '../../../src/engine/finish/purge-attempts.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'

t.test('attempts are deleted once they are old and their operation is final', async t => {
  const { db } = await freshDatabase(t)
  // Operations of migrations have ids that tell no time.
  await sql`
    with o (name, id, status, age) as (values
      ('old', core.first_id_at(now() - interval '40 days'), 'success', 40),
      ('migrated', 'f0000000-0000-5000-8000-000000000000'::uuid, 'failed', 40),
      ('migrated lately', 'f1000000-0000-5000-8000-000000000000'::uuid, 'success', 2),
      ('unfinished', core.first_id_at(now() - interval '39 days'), 'processing', 39),
      ('finished lately', core.first_id_at(now() - interval '38 days'), 'success', 2),
      ('young', core.first_id_at(now() - interval '2 days'), 'success', 2)
    ), operation as (
      insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, processed_at)
      select id, 'LOAN_DELETE', 'api', 'loan:' || name, name, '{}', status,
             case when status <> 'processing' then now() - age * interval '1 day' end from o
    )
    insert into loanops.operation_attempt (operation_id, attempt, started_at, ended_at, outcome)
    select id, n, at, at, 'done'
      from o cross join generate_series(1, 3) n cross
       join lateral (values (now() - age * interval '1 day')) a (at)`.execute(db)
  t.equal(await purgeAttempts(db, 50), 0, 'none is that old')
  t.equal(await purgeAttempts(db, 30), 6)
  t.equal(await purgeAttempts(db, 30), 0)
  const { rows } = await sql<{ name: string }>`
    select o.external_id as name from loanops.operation o
     where exists (select from loanops.operation_attempt where operation_id = o.id)
      order by 1`.execute(db)
  t.same(
    rows.map(({ name }) => name),
    ['finished lately', 'migrated lately', 'unfinished', 'young'],
  )
})
