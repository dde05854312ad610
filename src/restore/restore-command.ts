import { ConfigError, readConfig } from '../config/config.ts'
import { openDatabase } from '../database/database.ts'
import { requireUpToDate } from '../database/migrate/migrate.ts'
import { DAY_MS } from '../day.ts'
import { logger } from '../log/log.ts'
import { asError } from '../log/on-error.ts'
import { openQueue } from '../queue/queue.ts'
import { afterRestore, afterRestoreReport, RESTORE_MAX_DAYS } from './after-restore.ts'

export async function restoreFromCommand(
  env: NodeJS.ProcessEnv,
  since = '',
  withPause = false,
): Promise<void> {
  const time = new Date(since)
  const days = (Date.now() - time.getTime()) / DAY_MS
  // Without its zone, a time would depend on the machine.
  if (!/(Z|[+-]\d\d:\d\d)$/.test(since) || !(days > 0 && days < RESTORE_MAX_DAYS))
    throw new ConfigError(
      `--since must be the time of the back-up, at most ${RESTORE_MAX_DAYS} days ago, with its zone. Example: --since 2026-11-20T02:00:00+05:30`,
    )
  const config = readConfig(env)
  const log = logger(config.LOG_LEVEL)
  const onError = asError(log, 'the database failed')
  const options = { name: 'loanops-after-restore', onError }
  // One statement changes a row for each loan, client and payment that ever had a callback: it takes what it takes.
  const db = openDatabase(config.DATABASE_URL, { ...options, max: 1, statementMs: 0 })
  const boss = openQueue(config.DATABASE_URL, { ...options, isWorker: false })
  try {
    await requireUpToDate(db)
    await boss.start()
    const restored = await afterRestore(db, boss, config, { since: time, withPause })
    process.stdout.write(afterRestoreReport(restored))
  } finally {
    await boss.stop({ graceful: false })
    await db.destroy()
  }
}
