import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { migrate } from '../../../src/database/migrate/migrate.ts'
import { newId } from '../../../src/ids.ts'
import { logger } from '../../../src/log/log.ts'
import { copyLenders } from '../../../src/payments/copy-lenders.ts'
import { startRole } from '../../../src/role.ts'
import { allQueues } from '../../../src/worker.ts'
import { startWithAccounts } from '../../support/accounts/admin.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { workerUrl } from '../../support/database/template.ts'
import { clientData, newName } from '../../support/ledger/loans.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { operate, startTestService, testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

t.test('the service runs with a role that is neither owner nor superuser', async t => {
  const { db, databaseUrl } = await startWithAccounts(t)
  const { username } = new URL(databaseUrl)
  const { rows } = await sql`
    select rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as may_more,
           exists (select from pg_class where relowner = pg_roles.oid) as owns
      from pg_roles where rolname = ${username}`.execute(db)
  t.same(rows, [{ may_more: false, owns: false }])
  const { rows: sessions } = await sql<{ usename: string }>`
    select distinct usename from pg_stat_activity
     where datname = current_database() and application_name = 'loanops-api'`.execute(db)
  t.same(sessions, [{ usename: username }])
})

t.test('the runtime role cannot alter, truncate or drop anything', async t => {
  const { db } = await asRuntime(t)
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('loanops', 'raw', 'core', 'pgboss')`.execute(db)
  t.ok(tables.length > 10)
  for (const { name } of tables) {
    const table = sql.raw(name)
    for (const statement of [
      sql`truncate ${table}`,
      sql`drop table ${table}`,
      sql`alter table ${table} add column x text`,
      sql`alter table ${table} disable trigger all`,
      sql`create index on ${table} ((1))`,
    ])
      await t.rejects(statement.execute(db), { code: '42501' }, name)
  }
})

t.test('the runtime role cannot create anything', async t => {
  const { db } = await asRuntime(t)
  for (const statement of [
    sql`create schema mine`,
    sql`create table loanops.mine (x text)`,
    sql`create table public.mine (x text)`,
    sql`create role mine`,
    sql`create or replace function loanops.refuse_change() returns trigger language plpgsql as 'begin return null; end'`,
    sql`copy loanops.account to program 'cat'`,
    sql`select lo_create(0)`,
    sql`select lo_creat(-1)`,
    sql`select lo_from_bytea(0, 'x')`,
    sql`select raw.watch('template')`,
    sql`set role loanops`,
  ])
    await t.rejects(statement.execute(db), { code: '42501' })
})

t.test(
  'neither role can create temporary or public tables once the owner has migrated',
  async t => {
    const { url, ownerUrl } = await freshDatabase(t)
    const owner = openDatabase(ownerUrl, { max: 1, name: 'test-owner', onError() {} })
    t.teardown(() => owner.destroy())
    await sql`grant create on schema public to public`.execute(owner)
    // A copied database does not inherit its template's privileges.
    await migrate(ownerUrl, allQueues)
    for (const login of [url, workerUrl(url)]) {
      const db = openDatabase(login, { max: 1, name: 'test-runtime', onError() {} })
      t.teardown(() => db.destroy())
      await t.rejects(sql`create temporary table mine (x text)`.execute(db), { code: '42501' })
      await t.rejects(sql`create table public.mine (x text)`.execute(db), { code: '42501' })
    }
  },
)

t.test('the runtime role can change neither the audit nor the record of migrations', async t => {
  const { db } = await asRuntime(t)
  for (const statement of [
    sql`update loanops.audit set actor = 'nobody'`,
    sql`delete from loanops.audit`,
    sql`delete from loanops.migration_applied`,
  ])
    await t.rejects(statement.execute(db), { message: /permission denied/ })
})

t.test('the runtime role can choose neither the time nor the login of an audit entry', async t => {
  const { db } = await asRuntime(t)
  await sql`
    insert into loanops.audit (id, at, actor, action, subject, session_role)
    values (${newId()}, '2020-01-01', 'asha', 'payment.post', 'gateway_a/pay_1', 'asha')`.execute(
    db,
  )
  const { rows } = await sql`
    select at > now() - interval '1 minute' as "isNow", session_role from ops.audit`.execute(db)
  t.same(rows, [{ isNow: true, session_role: 'loanops_service' }])
})

t.test('raw tables are made only for configured lenders', async t => {
  const { db } = await asRuntime(t)
  const make = (lender: string) =>
    sql`select raw.make_store(${lender}, 'gateway_a') as store`.execute(db)
  await t.rejects(make('LENDER_99'), { message: /no raw table for lender LENDER_99/ })
  for (const lender of ['LENDER_09', 'UNKNOWN']) await t.resolves(make(lender))
  const { lenders } = readConfig({
    ...testEnv('postgres://x', 'http://x/api/v1'),
    LENDERS_FILE: lendersFile(t, { LENDER_99: {} }),
  })
  await copyLenders(db, { lenders })
  await t.resolves(make('LENDER_99'))
})

t.test('a worker works under a role that cannot read the accounts', async t => {
  const { call, db, databaseUrl, ledger } = await startTestService(t, { ROLE: 'api' })
  const url = workerUrl(databaseUrl)
  const worker = await startRole(
    readConfig(testEnv(url, ledger.url, { ROLE: 'worker' })),
    logger('silent'),
  )
  t.teardown(() => worker.close())
  const client = newName('C')
  const ended = await operate(call, 'CLIENT_CREATE', clientData(client))
  t.equal(ended.status, 'success')
  const event = capturedA({ id: 'pay_1', loan: 'L-nowhere' })
  await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', event)
  await call('POST', '/api/payments/batch')
  await until(async () => {
    const { rows } = await sql`select from ops.suspense where reason = 'loan_unknown'`.execute(db)
    return rows.length === 1
  }, 'the batch')
  const asWorker = openDatabase(url, { max: 1, name: 'test-worker', onError() {} })
  t.teardown(() => asWorker.destroy())
  for (const statement of [
    sql`select password_hash from loanops.account`,
    sql`insert into loanops.account (id, username, password_hash, role) values (gen_random_uuid(), 'x', 'x', 'admin')`,
    sql`update loanops.account set disabled_at = null`,
    sql`delete from loanops.login_attempt`,
  ])
    await t.rejects(statement.execute(asWorker), { code: '42501' })
  const { rows: sessions } = await sql`
    select distinct usename from pg_stat_activity
     where datname = current_database() and application_name like 'loanops-worker%'`.execute(db)
  t.same(sessions, [{ usename: 'loanops_worker_service' }])
})

async function asRuntime(t: Test) {
  const { url } = await freshDatabase(t)
  const db = openDatabase(url, { max: 2, name: 'test-runtime', onError() {} })
  t.teardown(() => db.destroy())
  return { db }
}
