import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { startWithAccounts } from '../support/admin.ts'
import { freshDatabase } from '../support/fresh-database.ts'

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
    sql`set role loanops`,
  ])
    await t.rejects(statement.execute(db), { code: '42501' })
})

t.test('the runtime role can change neither the audit nor the record of migrations', async t => {
  const { db } = await asRuntime(t)
  for (const statement of [
    sql`update loanops.audit set actor = 'nobody'`,
    sql`delete from loanops.audit`,
    sql`delete from loanops.migration_applied`,
  ])
    await t.rejects(statement.execute(db), { message: /permission denied/ })
})

async function asRuntime(t: Test) {
  const { url } = await freshDatabase(t)
  const db = openDatabase(url, { max: 2, name: 'test-runtime', onError() {} })
  t.teardown(() => db.destroy())
  return { db }
}
