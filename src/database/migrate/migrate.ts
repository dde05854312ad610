import { sql } from 'kysely'
import { PgBoss, type Queue } from 'pg-boss'
import { ConfigError } from '../../config/config.ts'
import { logger } from '../../log/log.ts'
import { type Database, openDatabase } from '../database.ts'
import { LOCKS } from '../locks.ts'
import { poolConfig } from '../pool/pool-config.ts'
import { requireWritable } from '../require-writable.ts'
import { whenUp } from '../when-up.ts'
import { applyFiles, type Waiting } from './apply-files.ts'
import { appliedFiles, migrateTables } from './migrate-tables.ts'
import { readAccess } from './migration-report.ts'
import { tableFiles, viewFiles } from './sql-files.ts'

const NAME = 'loanops-migrate'

type QueueDeclaration = { name: string; options: Omit<Queue, 'name'> }
/** Indexing a large table takes time, and so does waiting for another migration. */
const NO_LIMIT = 0

/** @param stopping once it is aborted, a database that is down is no longer waited for */
export async function migrate(url: string, queues: QueueDeclaration[], stopping?: AbortSignal) {
  const warnings: string[] = []
  const fail = (error: Error) => {
    throw error
  }
  const options = { max: 1, name: NAME, onError: fail, statementMs: NO_LIMIT }
  // A pooler that shares sessions would keep our lock: the second connection finds out before it is taken.
  const first = openDatabase(url, options)
  const answer = () => sql`select 1`.execute(first)
  await whenUp(answer, logger('warn'), stopping).finally(() => first.destroy())
  const db = openDatabase(url, { ...options, onNotice: message => warnings.push(message) })
  try {
    return await db.connection().execute(async connection => {
      // "if exists" and "if not exists" give notices, which say nothing new.
      await sql`set client_min_messages = warning`.execute(connection)
      await requireWritable(connection)
      await sql`select pg_advisory_lock(${LOCKS.migration})`.execute(connection)
      const applied = await migrateTables(connection, { url, stopping })
      await migrateQueues(url, queues)
      await rebuildViews(connection, { url, stopping })
      return { applied, warnings, access: await readAccess(connection) }
    })
  } finally {
    await db.destroy()
  }
}

/** Views may be from a newer version: during a rollout, the previous version's processes may restart. */
async function isUpToDate(db: Database): Promise<boolean> {
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

export async function requireUpToDate(db: Database): Promise<void> {
  if (!(await isUpToDate(db)))
    throw new ConfigError('The database is behind this version: run "npm run migrate"')
}

export function tablesPresent(): (db: Database) => Promise<boolean> {
  const names = tableFiles().map(({ name }) => name)
  return async db => {
    const applied = await appliedFiles(db)
    return names.every(name => applied.has(name))
  }
}

async function migrateQueues(url: string, queues: QueueDeclaration[]) {
  const boss = new PgBoss({
    ...poolConfig(url, { max: 1, name: NAME, statementMs: NO_LIMIT }),
    supervise: false,
    schedule: false,
  })
  // Without a listener, the event ends the process. The same fault also fails the call below, which reports it.
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

async function rebuildViews(db: Database, waiting: Waiting) {
  await applyFiles(db, viewFiles(), waiting, (trx, { name, sha256 }) =>
    sql`
      insert into loanops.views_applied (name, sha256) values (${name}, ${sha256})
      on conflict do nothing`.execute(trx),
  )
}
