import { sql } from 'kysely'
import t from 'tap'
import { allQueues } from '../../src/worker.ts'
import { buffersOf } from '../support/database/buffers.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'

/** Pages: reading the finished jobs would take a thousand. */
const MAX_BUFFERS = 100

t.test('ops.queue and ops.job_failed read none of the jobs that have finished', async t => {
  const { db, url } = await freshDatabase(t)
  await sql`
    insert into pgboss.job (name, data, state, completed_on)
    select name, '{}', 'completed', now()
      from unnest(${allQueues.map(({ name }) => name)}::text[]) name cross
       join generate_series(1, 5000)`.execute(db)
  await sql`
    insert into pgboss.job (name, state)
    values ('operation', 'created'), ('operation', 'failed'), ('payment-event', 'active')`.execute(
    db,
  )
  await sql`vacuum analyze pgboss.job`.execute(db)
  const statements = await buffersOf(url, async db => {
    const { rows } = await sql`
      select queue, ready, active, failed from ops.queue
       where ready + active + failed > 0 order by queue`.execute(db)
    t.same(rows, [
      { queue: 'operation', ready: '1', active: '0', failed: '1' },
      { queue: 'payment-event', ready: '0', active: '1', failed: '0' },
    ])
    await sql`select * from ops.job_failed`.execute(db)
  })
  t.equal(statements.length, 2)
  for (const { statement, buffers } of statements)
    t.ok(buffers < MAX_BUFFERS, `${buffers}: ${statement}`)
})
