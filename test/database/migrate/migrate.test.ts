import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { sql } from 'kysely'
import t from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { LOCKS } from '../../../src/database/locks.ts'
import { migrate } from '../../../src/database/migrate/migrate.ts'
import { freePort } from '../../../src/embedded/free-port.ts'
import { logger } from '../../../src/log/log.ts'
import { startRole } from '../../../src/role.ts'
import { allQueues } from '../../../src/worker.ts'
import { copiedMigrate } from '../../support/database/copied-migrate.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { startPostgresProxy } from '../../support/database/postgres-proxy.ts'
import { MAIN } from '../../support/main.ts'
import { processEnv } from '../../support/process.ts'
import { NO_LEDGER, startTestService, testEnv } from '../../support/service.ts'

/** Longer than any statement takes in a migrate with nothing to do. */
const LIMIT_MS = 1_000

t.test('npm run migrate waits for a database that is not up yet', async t => {
  const { ownerUrl } = await freshDatabase(t)
  const late = new URL(ownerUrl)
  late.port = String(await freePort(0))
  const migrating = spawn(process.execPath, [MAIN, 'migrate'], {
    env: { ...processEnv, DATABASE_URL: late.href },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => migrating.kill('SIGKILL'))
  const ended = once(migrating, 'exit')
  const [said] = await Promise.race([once(migrating.stdout, 'data'), ended])
  t.match(String(said), 'waiting for the database')

  const { hostname, port } = new URL(ownerUrl)
  const server = createServer(socket => {
    const there = connect(Number(port), hostname)
    socket.on('error', () => there.destroy())
    there.on('error', () => socket.destroy())
    socket.pipe(there).pipe(socket)
  })
  server.listen(Number(late.port), late.hostname)
  t.teardown(() => server.close())
  t.same(await ended, [0, null])
})

t.test('migrate needs no startup parameter that PgBouncer refuses', async t => {
  const { ownerUrl } = await freshDatabase(t)
  const proxy = await startPostgresProxy(t, ownerUrl, { isLikePgBouncer: true })
  await t.resolves(migrate(proxy.url, allQueues))
})

t.test('every row has an identity, so that a publication of all tables stops no write', async t => {
  const { db } = await freshDatabase(t)
  const { rows } = await sql<{ without: string }>`
    select oid::regclass::text as without from pg_class c
     where relkind in ('r', 'p') and relnamespace in ('loanops'::regnamespace, 'raw'::regnamespace, 'core'::regnamespace, 'pgboss'::regnamespace)
       and relreplident = 'd' and not exists (select from pg_index where indrelid = c.oid and indisprimary)`.execute(
    db,
  )
  t.same(rows, [])
  await sql`create publication all_of_them for all tables`.execute(db)
  await t.resolves(sql`delete from core.changed_day`.execute(db))
})

t.test('a process starts on the views of a newer version, not on an older one’s', async t => {
  const { db, url, ownerUrl } = await freshDatabase(t)
  const config = readConfig(testEnv(url, NO_LEDGER, { ROLE: 'api' }))
  const starts = async () => {
    const service = await startRole(config, logger('silent'))
    await service.close()
  }
  const isBehind = { message: /is behind this version: run "npm run migrate"/ }
  const apply = (sha256: string) =>
    sql`update loanops.migration_applied set sha256 = ${sha256} where name = 'views/queues.sql'`.execute(
      db,
    )
  await sql`
    insert into loanops.views_applied (name, sha256, first_applied_at)
    values ('views/queues.sql', 'newer', now() + interval '1 day'),
           ('views/queues.sql', 'older', now() - interval '1 day')`.execute(db)
  await apply('newer')
  await t.resolves(starts(), 'even when restarted during a rollout')
  await apply('older')
  await t.rejects(
    starts(),
    isBehind,
    'its own were applied, but an older version’s migrate has run since',
  )
  await sql`delete from loanops.views_applied where sha256 not in ('older', 'newer') and name = 'views/queues.sql'`.execute(
    db,
  )
  await t.rejects(starts(), isBehind, 'its own have never been applied')
  await migrate(ownerUrl, allQueues)
  await t.resolves(starts())
})

t.test('migrate waits for another migrate longer than the statement limit', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  const name = new URL(ownerUrl).pathname.slice(1)
  await sql`alter database ${sql.id(name)} set statement_timeout = ${sql.lit(LIMIT_MS)}`.execute(db)
  let waited: Promise<unknown> = Promise.resolve()
  await db.transaction().execute(async trx => {
    await sql`set local statement_timeout = 0`.execute(trx)
    await sql`select pg_advisory_xact_lock(${LOCKS.migration})`.execute(trx)
    waited = migrate(ownerUrl, allQueues)
    await sql`select pg_sleep(${(1.5 * LIMIT_MS) / 1_000})`.execute(trx)
  })
  await t.resolves(waited)
})

t.test(
  'a process stays ready with a newer version’s views, but not without one of its own tables',
  async t => {
    const { db, call } = await startTestService(t, { ROLE: 'api' })
    await sql`
      update loanops.migration_applied set sha256 = 'newer' where name like 'views/%'`.execute(db)
    t.equal((await call('GET', '/readyz')).status, 200)
    await sql`delete from loanops.migration_applied where name like '01-%'`.execute(db)
    t.match(await call('GET', '/readyz'), {
      status: 503,
      body: { database: 'is behind: run migrate' },
    })
  },
)

t.test('a migrate that fails names the file at which it failed', async t => {
  const { ownerUrl } = await freshDatabase(t)
  const broken = await copiedMigrate(t.testdir({}), migrations =>
    appendFileSync(`${migrations}/views/queues.sql`, 'select core.absent();'),
  )
  await t.rejects(broken.migrate(ownerUrl, allQueues), {
    message: 'migrations/views/queues.sql: function core.absent() does not exist',
  })
})

t.test('a version can start again after a newer one restored a view’s older text', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  const folder = t.testdir({ first: {}, second: {}, third: {} })
  const add = (view: string) => (migrations: string) =>
    appendFileSync(`${migrations}/views/${view}`, '-- changed')
  const first = await copiedMigrate(`${folder}/first`, () => undefined)
  const second = await copiedMigrate(`${folder}/second`, add('queues.sql'))
  const third = await copiedMigrate(`${folder}/third`, add('accounts.sql'))
  for (const { migrate } of [first, second, third]) await migrate(ownerUrl, allQueues)
  await t.resolves(second.requireUpToDate(db))
  await first.migrate(ownerUrl, allQueues)
  await t.rejects(second.requireUpToDate(db), 'an older version’s migrate has run since')
})
