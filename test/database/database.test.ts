import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { openDatabase, poolUse } from '../../src/database/database.ts'
import { setUpSession } from '../../src/database/pool/session.ts'
import { isTransient } from '../../src/database/transient.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { startPostgresProxy } from '../support/database/postgres-proxy.ts'
import { matchEach } from '../support/match-each.ts'
import { until } from '../support/until.ts'

t.test('a connection cut between statements fails its transaction, not the process', async t => {
  const { db } = await freshDatabase(t)
  const cut = db.transaction().execute(async trx => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
    await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(db)
    // The server's last message has arrived while no statement was running.
    await until(async () => {
      const { rows: left } = await sql`
        select from pg_stat_activity where pid = ${rows[0]?.pid}`.execute(db)
      return left.length === 0
    })
    await sql`select 1`.execute(trx)
  })
  const error = await cut.then(
    () => undefined,
    error => error,
  )
  t.ok(isTransient(error), 'the error is transient, unlike one of the statement itself')
})

t.test('no session compiles its statements', async t => {
  const { db } = await freshDatabase(t)
  const { rows } = await sql`show jit`.execute(db)
  t.same(rows, [{ jit: 'off' }])
})

t.test('commits go to disk, whatever the database and the URL say', async t => {
  const { db, url } = await freshDatabase(t)
  const name = new URL(url).pathname.slice(1)
  await sql`alter database ${sql.id(name)} set synchronous_commit = off`.execute(db)
  const ours = openDatabase(`${url}&options=-c%20synchronous_commit%3Dlocal`, {
    max: 1,
    name: 'test',
    onError: () => undefined,
  })
  t.teardown(() => ours.destroy())
  const { rows } = await sql`show synchronous_commit`.execute(ours)
  matchEach(t, rows, [{ synchronous_commit: 'on' }])
})

t.test('no transaction has a time limit of its own, whatever the database says', async t => {
  const { db, url } = await freshDatabase(t)
  const name = new URL(url).pathname.slice(1)
  await sql`alter database ${sql.id(name)} set transaction_timeout = '5s'`.execute(db)
  const ours = openDatabase(url, { max: 1, name: 'test', onError: () => undefined })
  t.teardown(() => ours.destroy())
  t.same((await sql`show transaction_timeout`.execute(ours)).rows, [{ transaction_timeout: '0' }])
})

t.test('a pool for long statements makes the server cancel them at the pool’s limit', async t => {
  const { url } = await freshDatabase(t)
  const options = { max: 1, name: 'test-long', onError() {}, statementMs: 100 }
  const db = openDatabase(url, options)
  t.teardown(() => db.destroy())
  const QUERY_CANCELED = '57014'
  await t.rejects(sql`select pg_sleep(60)`.execute(db), { code: QUERY_CANCELED })
  t.same((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }], 'the connection still works')
})

t.test('a write after a BEGIN without an answer is not part of its transaction', async t => {
  const { db, url } = await freshDatabase(t)
  await sql`create table loanops.note (id integer)`.execute(db)
  await sql`grant insert on loanops.note to loanops_runtime`.execute(db)
  const proxy = await startPostgresProxy(t, url)
  const ours = openDatabase(proxy.url, { max: 1, name: 'test', onError() {}, statementMs: 100 })
  t.teardown(() => ours.destroy())
  await sql`select`.execute(ours)

  proxy.hold()
  const begun = ours.transaction().execute(trx => sql`select`.execute(trx))
  const error = await begun.catch(error => error)
  t.ok(isTransient(error), 'it is transient, unlike an error of the statement itself')
  proxy.deliver()
  await sql`insert into loanops.note values (1)`.execute(ours)
  t.same((await sql`select id from loanops.note`.execute(db)).rows, [{ id: 1 }])
})

t.test('the statement after one without an answer gets a new connection', async t => {
  const { url } = await freshDatabase(t)
  const proxy = await startPostgresProxy(t, url)
  const ours = openDatabase(proxy.url, { max: 2, name: 'test', onError() {}, statementMs: 100 })
  t.teardown(() => ours.destroy())
  await Promise.all([sql`select`.execute(ours), sql`select`.execute(ours)])
  proxy.swallow()
  await t.rejects(sql`select`.execute(ours))
  await t.resolves(sql`select`.execute(ours), 'even if several were lost')
})

t.test('an unused connection of a pool for quick statements closes without an error', async t => {
  const { url } = await freshDatabase(t)
  const errors: Error[] = []
  const onError = (error: Error) => errors.push(error)
  const ours = openDatabase(url, { max: 1, name: 'test', onError, statementMs: 1_000 })
  t.teardown(() => ours.destroy())
  await sql`select`.execute(ours)
  await until(async () => poolUse(ours).idle === 0, 'it is closed')
  t.same(errors, [])
})

t.test('a connection that does not keep its limits is refused with the reason', async t => {
  const { db, url } = await freshDatabase(t)
  const name = new URL(url).pathname.slice(1)
  await sql`create function loanops.current_setting(text) returns text return '0'`.execute(db)
  await sql`alter database ${sql.id(name)} set search_path = loanops, pg_catalog`.execute(db)
  const ours = openDatabase(url, { max: 1, name: 'test', onError() {} })
  t.teardown(() => ours.destroy())
  await t.rejects(sql`select`.execute(ours), {
    message: /statement_timeout is still 0,.*session mode/,
  })
})

t.test('a session that a pooler has given to another connection before is refused', async t => {
  const { url } = await freshDatabase(t)
  const session = new pg.Client(url)
  await session.connect()
  t.teardown(() => session.end())
  await setUpSession(session, 1_000)
  await t.rejects(setUpSession(session, 1_000), { message: /pooler in session mode/ })
  await session.query('discard all')
  await t.resolves(setUpSession(session, 1_000), 'a pooler in session mode resets it')
})

t.test('PostgreSQL itself ends a session whose client has vanished, within a minute', async t => {
  const { url } = await freshDatabase(t)
  const ours = openDatabase(url, { max: 1, name: 'test', onError() {} })
  t.teardown(() => ours.destroy())
  const { rows } = await sql<{ isSoon: boolean }>`
    select current_setting('idle_session_timeout')::interval between '5 s'
     and '1 min' as "isSoon"`.execute(ours)
  t.same(rows, [{ isSoon: true }])
})

t.test('a migration keeps its lock while another of its sessions works for long', async t => {
  const { url } = await freshDatabase(t)
  const migration = openDatabase(url, { max: 1, name: 'test', statementMs: 0, onError() {} })
  t.teardown(() => migration.destroy())
  const { rows } = await sql`show idle_session_timeout`.execute(migration)
  t.same(rows, [{ idle_session_timeout: '0' }])
})
