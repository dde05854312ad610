import { sql } from 'kysely'
import t from 'tap'
import { openQueue } from '../../src/queue/queue.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { startPostgresProxy } from '../support/database/postgres-proxy.ts'
import { until } from '../support/until.ts'

t.test('a queue stops although PostgreSQL ends its listening connection meanwhile', async t => {
  const { url, db } = await freshDatabase(t)
  const proxy = await startPostgresProxy(t, url)
  const boss = openQueue(proxy.url, { isWorker: true, name: 'stopping', onError() {} })
  await boss.start()
  proxy.hold()
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'stopping'
       and query like 'LISTEN%'`.execute(db)
  const stopped = boss.stop({ graceful: false })
  // The error that PostgreSQL sent arrives after the goodbye.
  proxy.deliver()
  await stopped
  const sessions = async () =>
    (await sql`select from pg_stat_activity where application_name = 'stopping'`.execute(db)).rows
  t.ok(await until(async () => (await sessions()).length === 0, 'all of its sessions have ended'))
})
