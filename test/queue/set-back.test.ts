import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { liveQueue } from '../../src/engine/queue.ts'
import { mendStamps } from '../../src/queue/mend-stamps.ts'
import { openHousekeeping, openQueue } from '../../src/queue/queue.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { until } from '../support/until.ts'

const HOUR_MS = 3_600_000

t.test('a process whose clock is set back goes on with its checks of the queues', async t => {
  const { nextCheck } = await housekeeping(t)
  await nextCheck()
  const now = Date.now
  t.intercept(Date, 'now', { value: () => now() - HOUR_MS })
  await nextCheck()
})

t.test('a worker’s schedules and checks go on after PostgreSQL’s clock is set back', async t => {
  const { db, nextCheck } = await housekeeping(t)
  await nextCheck()
  await sql`update pgboss.version set cron_on = now() + interval '1 hour'`.execute(db)
  await sql`update pgboss.queue set monitor_on = now() + interval '1 hour'`.execute(db)
  const { stop } = mendStamps({ db, log: { error: error => t.fail(error) } })
  t.teardown(stop)
  await until(async () => {
    const { rows } = await sql`select from pgboss.version where cron_on <= now()`.execute(db)
    return rows.length > 0
  }, 'the schedules')
  await nextCheck()
})

t.test('a schedule runs again at a time that comes twice after a clock is set back', async t => {
  const { db, url } = await freshDatabase(t)
  const boss = openQueue(url, { name: 'test', onError: error => t.fail(error), isWorker: true })
  await boss.start()
  t.teardown(() => boss.stop({ graceful: false }))
  // pg-boss starts nothing twice for one minute, and remembers it by such a job for a week.
  await sql`
    insert into pgboss.job (name, singleton_key, singleton_on, state, completed_on)
    select '__pgboss__send-it', 'run', date_trunc('minute', now() at time zone 'UTC') + ago, 'completed', now() + ago
      from unnest(array[interval '-1 hour', interval '1 hour']) ago`.execute(db)
  const { stop } = mendStamps({ db, log: { error: error => t.fail(error) } })
  t.teardown(stop)
  await until(async () => {
    const { rows } = await sql<{ isOver: boolean }>`
      select singleton_on < now() at time zone 'UTC' as "isOver"
        from pgboss.job where singleton_key = 'run'`.execute(db)
    return rows.length === 1 && rows[0]?.isOver
  }, 'only what ran before is remembered')
})

t.test('the leases of the dead end soon after PostgreSQL’s clock is set back', async t => {
  const { db } = await housekeeping(t)
  await sql`update pgboss.version set cron_on = now() + interval '1 hour'`.execute(db)
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, claimed_by, claimed_until)
    values (raw.new_id(), 'X', 'api', 'loan:A', 'A', '{}', raw.new_id(), now() + interval '1 hour')`.execute(
    db,
  )
  await sql`
    insert into loanops.ledger_share
    values (raw.new_id(), 2, 2, 0, 0, 2, 2, now() + interval '1 hour')`.execute(db)
  for (const runs of ['core.batch_run', 'core.readback_run'])
    await sql`
      insert into ${sql.table(runs)} (id, trigger, status, claimed_until)
      values (raw.new_id(), 'schedule', 'running', now() + interval '1 hour')`.execute(db)
  const { stop } = mendStamps({ db, log: { error: error => t.fail(error) } })
  t.teardown(stop)
  await until(async () => {
    const { rows } = await sql`
      select from (select claimed_until as until from loanops.operation union all select leased_until from loanops.ledger_share
                   union all select claimed_until from core.batch_run union all select claimed_until from core.readback_run) held
       where until > now() + interval '10 seconds'`.execute(db)
    return rows.length === 0
  }, 'leases that end soon')
})

async function housekeeping(t: Test) {
  const { db, url } = await freshDatabase(t)
  const boss = openHousekeeping(url, { name: 'test', onError: error => t.fail(error) })
  await boss.start()
  t.teardown(() => boss.stop({ graceful: false }))
  /** The last check of a queue; nothing while checks may be under way. */
  const lastCheck = () =>
    until(async () => {
      const { rows } = await sql<{ at: string }>`
        select monitor_on::text as at from pgboss.queue
         where name = ${liveQueue.name} and monitor_on is not null and not exists (
           select from pg_stat_activity
            where datname = current_database() and application_name = 'test-housekeeping'
              and (state <> 'idle' or state_change > now() - interval '0.3 s'))`.execute(db)
      return rows[0]
    })
  const nextCheck = async () => {
    const before = await lastCheck()
    await until(async () => (await lastCheck()).at !== before.at, 'the next check')
  }
  return { db, nextCheck }
}
