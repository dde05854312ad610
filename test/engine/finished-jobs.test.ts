import { sql } from 'kysely'
import t from 'tap'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('jobs that ended a minute ago are deleted, with any personal data in them', async t => {
  const { db } = await startTestService(t)
  const left = async () => {
    const { rows } = await sql`
      select from pgboss.job where data ->> 'firstname' = 'Asha'`.execute(db)
    return rows.length
  }
  await sql`
    insert into pgboss.job (name, data, state, policy, deletion_seconds, completed_on)
    select name, '{"firstname": "Asha"}', 'completed', policy, deletion_seconds, now() - interval '61 seconds'
      from pgboss.queue where name in ('operation', 'operation-bulk', 'payment-event')`.execute(db)
  t.equal(await left(), 3)
  // The last maintenance was a minute ago.
  await sql`update pgboss.queue set maintain_on = now() - interval '61 seconds'`.execute(db)
  t.ok(await until(async () => (await left()) === 0, 'they are deleted'))
})
