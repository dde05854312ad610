import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import type { Database } from '../../../src/database/database.ts'
import { migrate } from '../../../src/database/migrate/migrate.ts'
import { tableFiles } from '../../../src/database/migrate/sql-files.ts'
import { SQUASHED_AT, SQUASHED_FILES } from '../../../src/database/migrate/squashed-files.ts'
import { allQueues } from '../../../src/worker.ts'
import { copiedMigrate } from '../../support/database/copied-migrate.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database/fresh-database.ts'
import { endSessions, untilSessionsWait } from '../../support/database/sessions.ts'

const OWN = tableFiles().map(({ name }) => name)
/** The files that replaced SQUASHED_FILES; the others came later. */
const AREAS = OWN.filter(name => name < '10')
const LATER = OWN.filter(name => name >= '10')
const LAST = AREAS.at(-1) as string
/** What `squashedDatabase` has recorded: the tables of the later files are there too. */
const LEFT = [...SQUASHED_FILES, ...LATER].sort()
const BOTH = [...SQUASHED_FILES, ...OWN].sort()

t.test('a database with all former files is adopted without a run of their successors', async t => {
  const { db, ownerUrl } = await squashedDatabase(t)
  t.match(await migrate(ownerUrl, allQueues), { applied: [] })
  t.same(await recorded(db), BOTH)
  t.same(await hashes(db), Object.fromEntries(tableFiles().map(f => [f.name, f.sha256])))
  t.match(await migrate(ownerUrl, allQueues), { applied: [] }, 'nor by the next migrate')
})

t.test('a process of the version before may restart after the adoption', async t => {
  const { db, ownerUrl } = await squashedDatabase(t)
  const before = await copiedMigrate(t.testdir({}), migrations => {
    for (const name of ['views', ...OWN]) rmSync(`${migrations}/${name}`, { recursive: true })
    mkdirSync(`${migrations}/views`)
    for (const name of SQUASHED_FILES) writeFileSync(`${migrations}/${name}`, '')
  })
  await before.migrate(ownerUrl, allQueues)
  await migrate(ownerUrl, allQueues)
  await t.resolves(before.requireUpToDate(db))
})

t.test('a file that was added since is applied to an adopted database', async t => {
  const { db, ownerUrl } = await squashedDatabase(t)
  const newer = await copiedMigrate(t.testdir({}), migrations =>
    writeFileSync(`${migrations}/10-added.sql`, 'create table core.added (id uuid primary key)'),
  )
  t.match(await newer.migrate(ownerUrl, allQueues), { applied: ['10-added.sql'] })
  t.same((await sql`select from core.added`.execute(db)).rows, [])
})

t.test('an older database is refused with the commit to migrate it with first', async t => {
  const { db, ownerUrl } = await squashedDatabase(t)
  const missing = '440-reports-rows.sql'
  await sql`delete from loanops.migration_applied where name = ${missing}`.execute(db)
  await t.rejects(migrate(ownerUrl, allQueues), {
    message: `The database is too old for this version: first run "npm run migrate" of the commit ${SQUASHED_AT} on it`,
  })
  t.same(
    await recorded(db),
    LEFT.filter(name => name !== missing),
  )
})

t.test('a file that was edited after it was applied is refused by its name', async t => {
  const { ownerUrl } = await freshDatabase(t)
  const edited = await copiedMigrate(t.testdir({}), migrations =>
    appendFileSync(`${migrations}/${LAST}`, '-- changed'),
  )
  await t.rejects(edited.migrate(ownerUrl, allQueues), {
    message: `Edited after they were applied to this database: migrations/${LAST}. Restore them, and change the tables in a new file`,
  })
  await t.resolves(migrate(ownerUrl, allQueues))
})

t.test('an adoption that is killed records nothing, and the next one starts over', async t => {
  const { db, ownerUrl } = await squashedDatabase(t)
  await killAt(LAST, db, ownerUrl, t)
  t.same(await recorded(db), LEFT)
  await migrate(ownerUrl, allQueues)
  t.same(await recorded(db), BOTH)
})

t.test('a first migrate that is killed goes on with the file that it was at', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  await sql`
    drop schema loanops, raw, base, core, ops, pgboss cascade;
    create schema loanops;
    create table loanops.migration_applied (
      name text primary key, sha256 text not null, applied_at timestamptz not null default now())`.execute(
    db,
  )
  await killAt('03-payments.sql', db, ownerUrl, t)
  t.same(await recorded(db), ['01-operations.sql', '02-events.sql'])
  t.match(await migrate(ownerUrl, allQueues), { applied: OWN.slice(2) })
})

t.test('many migrates at once adopt a database once', async t => {
  const { db, ownerUrl } = await squashedDatabase(t)
  await t.resolves(Promise.all(Array.from({ length: 3 }, () => migrate(ownerUrl, allQueues))))
  t.same(await recorded(db), BOTH)
})

/** The database as a migrate of the commit SQUASHED_AT left it, with the later files. */
async function squashedDatabase(t: Test): Promise<FreshDatabase> {
  const database = await freshDatabase(t)
  await sql`delete from loanops.migration_applied where name = any(${AREAS})`.execute(database.db)
  await sql`delete from loanops.views_applied`.execute(database.db)
  await sql`
    insert into loanops.migration_applied (name, sha256)
    select name, encode(sha256(''), 'hex')
     from unnest(${SQUASHED_FILES}::text[]) name`.execute(database.db)
  return database
}

/** Ends a migrate while it records this file. */
async function killAt(file: string, db: Database, url: string, t: Test) {
  await db.transaction().execute(async trx => {
    await sql`
      insert into loanops.migration_applied (name, sha256) values (${file}, '')`.execute(trx)
    const killed = t.rejects(migrate(url, allQueues))
    await untilSessionsWait(db, { name: 'loanops-migrate' })
    await endSessions(db)
    await killed
    await sql`delete from loanops.migration_applied where name = ${file}`.execute(trx)
  })
}

async function recorded(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from loanops.migration_applied where name not like 'views/%'
     order by name collate "C"`.execute(db)
  return rows.map(({ name }) => name)
}

async function hashes(db: Database): Promise<Record<string, string>> {
  const { rows } = await sql<{ name: string; sha256: string }>`
    select name, sha256 from loanops.migration_applied where name = any(${OWN})`.execute(db)
  return Object.fromEntries(rows.map(({ name, sha256 }) => [name, sha256]))
}
