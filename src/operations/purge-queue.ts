import type { PgBoss } from 'pg-boss'
import type { Config } from '../config/config.ts'
import type { Queue } from '../queue/queue.ts'

/** Once a day, at a quiet hour. */
const CRON = '17 2 * * *'

export const purgeQueue: Queue<object> = {
  name: 'operation-purge',
  options: {
    // Two at once would only block each other.
    policy: 'singleton',
    // Whatever one night leaves is purged the next.
    retryLimit: 0,
    // A first run over years of operations takes hours; the next night's continues from there.
    expireInSeconds: 6 * 3_600,
  },
  // Nobody waits for it.
  work: { pollingIntervalSeconds: 60 },
}

/** The schedule is in the database, so switching the setting off must remove it. */
export async function schedulePurge(boss: PgBoss, config: Config): Promise<void> {
  if (config.OPERATION_RETENTION_DAYS === 0) await boss.unschedule(purgeQueue.name)
  else await boss.schedule(purgeQueue.name, CRON, {}, { tz: config.LEDGER_TIMEZONE })
}
