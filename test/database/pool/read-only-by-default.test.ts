import { sql } from 'kysely'
import t from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import type { Database } from '../../../src/database/database.ts'
import { migrate } from '../../../src/database/migrate/migrate.ts'
import { isTransient } from '../../../src/database/transient.ts'
import { logger } from '../../../src/log/log.ts'
import { startRole } from '../../../src/role.ts'
import { allQueues } from '../../../src/worker.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { clientData } from '../../support/ledger/loans.ts'
import { NO_LEDGER, startTestService, testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const SETTING = 'default_transaction_read_only'
const SUBMITTED = { status: 'CLIENT_CREATE', data: clientData('C-1') }

t.test('nothing is written while a database is read-only by default, only afterwards', async t => {
  const service = await startTestService(t)
  const name = await nameOf(service.db)
  const turn = async (value: string) => {
    await sql`begin read write; alter database ${sql.id(name)} set ${sql.id(SETTING)} = ${sql.lit(value)}; commit`.execute(
      service.db,
    )
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
               where datname = ${name} and pid <> pg_backend_pid()`.execute(service.db)
  }
  const readiness = async () => (await service.call('GET', '/readyz')).body.database
  await turn('on')
  await until(async () => (await readiness()) === 'is read-only')
  t.match(await service.call('POST', '/api/ledger/operate', SUBMITTED), {
    status: 503,
    body: { code: 'UNAVAILABLE' },
  })
  t.match(await service.call('GET', '/readyz'), { status: 503 })
  await turn('off')
  await until(async () => (await readiness()) === 'ok')
  t.match(await service.call('POST', '/api/ledger/operate', SUBMITTED), { status: 202 })
})

for (const start of ['api', 'worker', 'migrate'] as const)
  t.test(`the start of ${start} names who makes PostgreSQL read-only, and what to do`, async t => {
    const { db, url, ownerUrl } = await freshDatabase(t)
    const database = await nameOf(db)
    const login = new URL(start === 'migrate' ? ownerUrl : url).username
    const starts = async (): Promise<unknown> => {
      if (start === 'migrate') return migrate(ownerUrl, allQueues)
      const env = testEnv(url, NO_LEDGER, { ROLE: start })
      return startRole(readConfig(env), logger('silent'), AbortSignal.abort())
    }
    for (const owner of [`database ${database}`, `role ${login} in database ${database}`]) {
      await sql.raw(`alter ${owner} set ${SETTING} = on`).execute(db)
      const error = await starts().then(
        () => new Error('it starts'),
        (reason: Error) => reason,
      )
      t.equal(
        error.message,
        `PostgreSQL takes no writes, because ${SETTING} is on: if a managed service turned it on, as when the disk is almost full, give the disk space; otherwise alter ${owner} reset ${SETTING}`,
      )
      t.ok(isTransient(error), 'a role waits for it to pass')
    }
  })

async function nameOf(db: Database): Promise<string> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db)
  return (rows[0] as { name: string }).name
}
