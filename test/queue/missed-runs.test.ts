import { sql } from 'kysely'
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { logger } from '../../src/log/log.ts'
import { purgeQueue } from '../../src/purge/queue.ts'
import { startRole } from '../../src/role.ts'
import { startTestService, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('a read-back and a purge that were due while no worker ran follow at its start', async t => {
  const changes = { OPERATION_RETENTION_DAYS: '30' }
  const { db, databaseUrl, ledger } = await startTestService(t, changes)
  await sql`update pgboss.schedule set created_on = now() - interval '3 days'`.execute(db)
  await sql`update pgboss.version set cron_on = now() - interval '2 days'`.execute(db)
  const config = readConfig(testEnv(databaseUrl, ledger.url, changes))
  const worker = await startRole(config, logger('silent'))
  t.teardown(() => worker.close())
  await until(async () => {
    const { rows } = await sql`
      select from core.readback_run cross join pgboss.job
       where trigger = 'schedule' and name = ${purgeQueue.name}`.execute(db)
    return rows.length > 0
  }, 'both have been asked for')
})
