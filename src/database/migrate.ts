import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { PgBoss, type Queue } from 'pg-boss'
import { logger } from '../log.ts'
import { type Database, openDatabase, type Trx } from './database.ts'
import { LOCKS } from './locks.ts'
import { type Migrated, readAccess } from './migration-report.ts'
import { poolConfig } from './pool-config.ts'
import type { Row } from './row.ts'
import { whenUp } from './when-up.ts'

const FOLDER = new URL('../../migrations/', import.meta.url)
const NAME = 'loanops-migrate'

type QueueDeclaration = { name: string; options: Omit<Queue, 'name'> }
/** Indexing a large table takes time, and so does waiting for another migration, or for a table that is in use. */
const NO_LIMIT = 0

export async function migrate(url: string, queues: QueueDeclaration[]): Promise<Migrated> {
  const warnings: string[] = []
  const fail = (error: Error) => {
    throw error
  }
  const options = { max: 1, name: NAME, onError: fail, statementMs: NO_LIMIT }
  // A pooler that shares sessions would keep our lock: the second connection finds out before it is taken.
  const first = openDatabase(url, options)
  await whenUp(() => sql`select 1`.execute(first), logger('warn')).finally(() => first.destroy())
  const db = openDatabase(url, { ...options, onNotice: message => warnings.push(message) })
  try {
    return await db.connection().execute(async connection => {
      // "if exists" and "if not exists" give notices, which say nothing new.
      await sql`set client_min_messages = warning`.execute(connection)
      await sql`select pg_advisory_lock(${LOCKS.migration})`.execute(connection)
      const applied = await migrateTables(connection)
      await migrateQueues(url, queues)
      await rebuildViews(connection)
      return { applied, warnings, access: await readAccess(connection) }
    })
  } finally {
    await db.destroy()
  }
}

/** Views may be from a newer version: during a rollout, the previous version's processes may restart. */
export async function isUpToDate(db: Database): Promise<boolean> {
  if (!(await tablesPresent()(db))) return false
  const own = viewFiles()
  const { rows } = await sql`
    select
      from unnest(${own.map(({ name }) => name)}::text[], ${own.map(({ sha256 }) => sha256)}::text[]) as own (name, sha256)
      join loanops.views_applied ours using (name, sha256)
      join loanops.migration_applied latest using (name)
      join loanops.views_applied present on present.name = latest.name and present.sha256 = latest.sha256
     where ours.first_applied_at <= present.first_applied_at`.execute(db)
  return rows.length === own.length
}

export function tablesPresent(): (db: Database) => Promise<boolean> {
  const names = tableFiles().map(({ name }) => name)
  return async db => {
    const applied = await appliedFiles(db)
    return names.every(name => applied.has(name))
  }
}

async function appliedFiles(db: Database): Promise<Set<string>> {
  const { rows: tables } = await sql<{ name: string | null }>`
    select to_regclass('loanops.migration_applied')::text as name`.execute(db)
  if (!tables[0]?.name) return new Set()
  const { rows } = await sql<
    Row<'loanops.migration_applied', 'name'>
  >`select name from loanops.migration_applied`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

async function migrateTables(db: Database): Promise<string[]> {
  await sql`create schema if not exists loanops`.execute(db)
  await sql`create table if not exists loanops.migration_applied (
    name text primary key, sha256 text not null, applied_at timestamptz not null default now())`.execute(
    db,
  )
  const applied = await appliedFiles(db)
  const missing = tableFiles().filter(file => !applied.has(file.name))
  for (const file of missing) await db.transaction().execute(trx => apply(trx, file))
  return missing.map(file => file.name)
}

async function migrateQueues(url: string, queues: QueueDeclaration[]) {
  const boss = new PgBoss({
    ...poolConfig(url, { max: 1, name: NAME, statementMs: NO_LIMIT }),
    supervise: false,
    schedule: false,
  })
  // Without a listener, the event ends the process. Whatever broke also fails the call below, which reports it.
  boss.on('error', () => undefined)
  await boss.start()
  try {
    for (const { name, options } of queues) {
      // A queue's policy and partitioning cannot change once it exists; everything else follows the code.
      const { policy, partition, ...changeable } = options
      if (await boss.getQueue(name)) await boss.updateQueue(name, changeable)
      else await boss.createQueue(name, options)
    }
  } finally {
    await boss.stop({ graceful: false })
  }
}

async function rebuildViews(db: Database) {
  for (const file of viewFiles()) {
    await db.transaction().execute(async trx => {
      await apply(trx, file)
      await sql`
        insert into loanops.views_applied (name, sha256) values (${file.name}, ${file.sha256})
        on conflict do nothing`.execute(trx)
    })
  }
}

type SqlFile = { name: string; text: string; sha256: string }

async function apply(trx: Trx, { name, text, sha256 }: SqlFile) {
  await sql.raw(text).execute(trx)
  await sql`insert into loanops.migration_applied (name, sha256) values (${name}, ${sha256})
    on conflict (name) do update set sha256 = excluded.sha256, applied_at = now()`.execute(trx)
}

const tableFiles = () => sqlFiles('./', /^\d{3}-.*\.sql$/)

/** Each under the hash of all files, because a newer version may take one file back to its older text. */
function viewFiles(): SqlFile[] {
  const files = sqlFiles('./views/', /\.sql$/)
  const all = [...tableFiles(), ...files].map(({ name, sha256 }) => name + sha256)
  const sha256 = sha256Of(all.join('\n'))
  return files.map(file => ({ ...file, sha256 }))
}

/** A start asks for them three times. */
const known = new Map<string, SqlFile[]>()

function sqlFiles(folder: string, wanted: RegExp): SqlFile[] {
  const files = known.get(folder) ?? readFiles(folder, wanted)
  known.set(folder, files)
  return files
}

function readFiles(folder: string, wanted: RegExp): SqlFile[] {
  const names = readdirSync(new URL(folder, FOLDER))
    .filter(name => wanted.test(name))
    .sort()
  return names.map(file => {
    const text = readFileSync(new URL(folder + file, FOLDER), 'utf8')
    return {
      name: folder.slice(2) + file,
      text,
      sha256: sha256Of(text),
    }
  })
}

const sha256Of = (text: string) => hash('sha256', text)
