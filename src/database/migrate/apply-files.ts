import { sql } from 'kysely'
import { logger } from '../../log/log.ts'
import { type Database, openDatabase, type Trx } from '../database.ts'
import { retry } from '../retry.ts'
import { isDeadlock, isLocked } from '../transient.ts'
import type { SqlFile } from './sql-files.ts'

/**
 * Whoever reads what a file changes queues behind a migrate that waits for it. PostgreSQL looks for a deadlock after a
 * second, and would then also end the reader.
 */
const LOCK_TIMEOUT_MS = 500
/** The readers that queued run meanwhile; all views together may have kept them waiting for seconds. */
const RETRY_EVERY_MS = 2_000
const TRIES_UNTIL_SAID = 4
const ASK_EVERY_MS = 50
/** On a busy machine, the last of the files is reached only after some seconds. */
const ASK_WITHIN_MS = 10_000

export type Waiting = {
  url: string
  /** Once it is aborted, nothing is tried again. */
  stopping?: AbortSignal | undefined
}

/**
 * Applies the files in one transaction: the processes that work meanwhile find all of them, or none. Tries until no lock
 * is in its way, and says who holds them if that takes long.
 */
export async function applyFiles(
  db: Database,
  files: SqlFile[],
  { url, stopping }: Waiting,
  also?: (trx: Trx, file: SqlFile) => Promise<unknown>,
): Promise<void> {
  let tries = 0
  let current: string | undefined
  const apply = () =>
    db.transaction().execute(async trx => {
      await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(trx)
      for (const file of files) {
        const { name, text, sha256 } = file
        current = name
        await sql.raw(text).execute(trx)
        await sql`insert into loanops.migration_applied (name, sha256) values (${name}, ${sha256})
          on conflict (name) do update
           set sha256 = excluded.sha256, applied_at = now()`.execute(trx)
        await also?.(trx, file)
      }
    })
  const attempt = async () => {
    tries += 1
    if (tries % TRIES_UNTIL_SAID > 0) return apply()
    await whileSaying(() => current, { db, url }, apply)
  }
  await retry(attempt, {
    withinMs: Number.POSITIVE_INFINITY,
    everyMs: RETRY_EVERY_MS,
    mayPass: error => isLocked(error) || isDeadlock(error),
    stopping,
  }).catch(error => {
    if (current) error.message = `migrations/${current}: ${error.message}`
    throw error
  })
}

/** Says who holds the locks that `work` waits for. @param fileOf the file that it is at */
async function whileSaying(
  fileOf: () => string | undefined,
  { db, url }: { db: Database; url: string },
  work: () => Promise<void>,
): Promise<void> {
  const log = logger('warn')
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  const [{ pid } = { pid: 0 }] = rows
  const options = { max: 1, name: 'loanops-migrate', onError: () => undefined }
  const other = openDatabase(url, options)
  let isOver = false
  const working = work().finally(() => {
    isOver = true
  })
  const saying = retry(
    async () => {
      const holders = await holdersOf(other, pid)
      if (holders.length > 0)
        log.warn({ file: fileOf(), holders }, 'waiting for other sessions to end')
      else if (!isOver) throw new Error('nobody yet')
    },
    { withinMs: ASK_WITHIN_MS, everyMs: ASK_EVERY_MS, mayPass: () => !isOver },
  ).catch(() => undefined)
  await Promise.all([working, saying]).finally(() => other.destroy())
}

type Holder = { pid: number; login: string | null; application: string | null }

/** Their statements stay unsaid, because they may hold personal data. */
async function holdersOf(db: Database, pid: number): Promise<Holder[]> {
  const { rows } = await sql<Holder>`
    select pid, usename as login, application_name as application
      from pg_stat_activity where pid = any(pg_blocking_pids(${pid}))`.execute(db)
  return rows
}
