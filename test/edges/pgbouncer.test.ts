import { sql } from 'kysely'
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { logger } from '../../src/log.ts'
import { startRole } from '../../src/role.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'
import { caller, operate, testEnv } from '../support/service.ts'

t.test('behind PgBouncer every connection works, including the listening one', async t => {
  const { db, url } = await freshDatabase(t)
  const proxy = await startPostgresProxy(t, url, { isLikePgBouncer: true })
  const ledger = await startSandbox({ port: 0 })
  const service = await startRole(readConfig(testEnv(proxy.url, ledger.url)), logger('silent'))
  t.teardown(async () => {
    await service.close()
    await ledger.close()
  })
  const person = { externalId: 'C-1', firstname: 'Asha', lastname: 'Rao' }
  const ended = await operate(caller(service.url), 'CLIENT_CREATE', {
    ...person,
    activationDate: '05 January 2026',
  })
  t.match(ended, { status: 'success' })
  t.same(proxy.refused, [])
  const { rows } = await sql`
    select from pg_stat_activity
     where datname = current_database() and application_name = 'loanops-all'
       and (query like 'LISTEN%' or query like '%pg_listening_channels%')`.execute(db)
  t.equal(rows.length, 1)
})
