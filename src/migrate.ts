import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { PgBoss } from 'pg-boss'
import { type Database, openDatabase, poolConfig, untilReady } from './database.ts'
import { logger } from './log.ts'
import { allQueues } from './worker.ts'

const FOLDER = new URL('../migrations/', import.meta.url)
/** Any number will do, as long as every copy of this program uses the same one. */
export const MIGRATION_LOCK = 7_405_313
const NAME = 'loanops-migrate'
/** An index on a large table takes its time, and it waits for another migration and for whoever uses what it changes. */
const NO_LIMIT = 0

/** Brings the database up to date: our tables, pg-boss's, the queues, and the views, which are made anew each time. */
export async function migrate(url: string): Promise<void> {
  const fail = (error: Error) => {
    throw error
  }
  const db = openDatabase(url, {
    max: 1,
    name: NAME,
    onError: fail,
    statementMs: NO_LIMIT,
  })
  try {
    await untilReady(db, logger('warn'))
    await db.connection().execute(async connection => {
      await sql`select pg_advisory_lock(${MIGRATION_LOCK})`.execute(connection)
      await migrateTables(connection)
      await migrateQueues(url)
      await rebuildViews(connection)
    })
  } finally {
    await db.destroy()
  }
}

/** Whether `migrate` has run from exactly these files: a role refuses to start on a database that is behind. */
export async function isUpToDate(db: Database): Promise<boolean> {
  const applied = await appliedFiles(db)
  return (
    tableFiles().every(({ name }) => applied.has(name)) &&
    viewFiles().every(({ name, sha256 }) => applied.get(name) === sha256)
  )
}

/**
 * Asks whether this version's tables are there. Views may be a newer version's: while one is rolled out, the processes
 * of the one before go on with what they started on.
 */
export function tablesPresent(): (db: Database) => Promise<boolean> {
  const names = tableFiles().map(({ name }) => name)
  return async db => {
    const applied = await appliedFiles(db)
    return names.every(name => applied.has(name))
  }
}

async function appliedFiles(db: Database): Promise<Map<string, string>> {
  const { rows: tables } = await sql<{ name: string | null }>`
    select to_regclass('loanops.migration_applied')::text as name`.execute(db)
  if (!tables[0]?.name) return new Map()
  const { rows } = await sql<{ name: string; sha256: string }>`
    select name, sha256 from loanops.migration_applied`.execute(db)
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]))
}

async function migrateTables(db: Database) {
  await sql`create schema if not exists loanops`.execute(db)
  await sql`create table if not exists loanops.migration_applied (
    name text primary key, sha256 text not null, applied_at timestamptz not null default now())`.execute(
    db,
  )
  const { rows } = await sql<{ name: string }>`select name from loanops.migration_applied`.execute(
    db,
  )
  const applied = new Set(rows.map(row => row.name))
  for (const file of tableFiles()) if (!applied.has(file.name)) await apply(db, file)
}

async function migrateQueues(url: string) {
  const boss = new PgBoss({
    ...poolConfig(url, { max: 1, name: NAME, statementMs: NO_LIMIT }),
    supervise: false,
    schedule: false,
  })
  boss.on('error', () => undefined)
  await boss.start()
  try {
    for (const { name, options } of allQueues) {
      // A queue's policy and partition are for life; the rest follows the code.
      const { policy, partition, ...changeable } = options
      if (await boss.getQueue(name)) await boss.updateQueue(name, changeable)
      else await boss.createQueue(name, options)
    }
  } finally {
    await boss.stop({ graceful: false })
  }
}

async function rebuildViews(db: Database) {
  for (const file of viewFiles()) await apply(db, file)
}

type SqlFile = { name: string; text: string; sha256: string }

async function apply(db: Database, { name, text, sha256 }: SqlFile) {
  await db.transaction().execute(async trx => {
    await sql.raw(text).execute(trx)
    await sql`insert into loanops.migration_applied (name, sha256) values (${name}, ${sha256})
      on conflict (name) do update set sha256 = excluded.sha256, applied_at = now()`.execute(trx)
  })
}

const tableFiles = () => sqlFiles('./')
const viewFiles = () => sqlFiles('./views/')

function sqlFiles(folder: string): SqlFile[] {
  const names = readdirSync(new URL(folder, FOLDER))
    .filter(name => name.endsWith('.sql'))
    .sort()
  return names.map(file => {
    const text = readFileSync(new URL(folder + file, FOLDER), 'utf8')
    return {
      name: folder.slice(2) + file,
      text,
      sha256: createHash('sha256').update(text).digest('hex'),
    }
  })
}
