import { sql } from 'kysely'
import t from 'tap'
import { purgeBulks } from '../../src/console/bulk/bulk-feature.ts'
import { startTestService } from '../support/service.ts'

t.test('bulk decisions that ended long ago are deleted with their items', async t => {
  const { db } = await startTestService(t, { ROLE: 'api' })
  await sql`
    with b as (
      insert into loanops.bulk (id, decision, filter, note, actor, status, ended_at)
      select core.first_id_at(now() - interval '3 days' + n * interval '1 second'), 'operations.cancel', '{}', note, 'asha', status, ended_at
        from (values (1, 'old', 'completed', now() - interval '25 hours'), (2, 'stopped', 'stopped', now() - interval '2 days'),
                     (3, 'recent', 'completed', now() - interval '23 hours'), (4, 'running', 'running', null))
             a (n, note, status, ended_at)
      returning id
    )
    insert into loanops.bulk_item (bulk_id, number, item) select id, n, '{}' from b cross
     join generate_series(1, 2) n`.execute(db)
  t.equal(await purgeBulks(db, 1), 2)
  const { rows } = await sql`
    select note, count(*)::integer as items
      from loanops.bulk b join loanops.bulk_item i on i.bulk_id = b.id group by note
       order by 1`.execute(db)
  t.same(rows, [
    { note: 'recent', items: 2 },
    { note: 'running', items: 2 },
  ])
  t.same((await sql`select from loanops.bulk_item`.execute(db)).rows.length, 4)
})
