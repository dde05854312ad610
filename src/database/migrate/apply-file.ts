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
/** The readers that queued run meanwhile. */
const RETRY_EVERY_MS = 500
const TRIES_UNTIL_SAID = 10
const ASK_EVERY_MS = 50

export type Waiting = {
  url: string
  /** Once it is aborted, nothing is tried again. */
  stopping?: AbortSignal | undefined
}

/** Tries until no lock is in its way, and says who holds them if that takes long. */
export async function applyFile(
  db: Database,
  { name, text, sha256 }: SqlFile,
  { url, stopping }: Waiting,
  also?: (trx: Trx) => Promise<unknown>,
): Promise<void> {
  let tries = 0
  const apply = () =>
    db.transaction().execute(async trx => {
      await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS};\n${text}`).execute(trx)
      await sql`insert into loanops.migration_applied (name, sha256) values (${name}, ${sha256})
        on conflict (name) do update set sha256 = excluded.sha256, applied_at = now()`.execute(trx)
      await also?.(trx)
    })
  const attempt = async () => {
    tries += 1
    if (tries % TRIES_UNTIL_SAID > 0) return apply()
    await whileSaying(name, { db, url }, apply)
  }
  await retry(attempt, {
    withinMs: Number.POSITIVE_INFINITY,
    everyMs: RETRY_EVERY_MS,
    mayPass: error => isLocked(error) || isDeadlock(error),
    stopping,
  })
}

/** Says who holds the locks that `work` waits for. */
async function whileSaying(
  file: string,
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
      if (holders.length > 0) log.warn({ file, holders }, 'waiting for other sessions to end')
      else if (!isOver) throw new Error('nobody yet')
    },
    { withinMs: 2 * LOCK_TIMEOUT_MS, everyMs: ASK_EVERY_MS, mayPass: () => !isOver },
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
