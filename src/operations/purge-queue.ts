import type { PgBoss } from 'pg-boss'
import type { Config } from '../config.ts'
import type { Queue } from '../queue/queue.ts'

/** Once a day, at an hour when nobody waits for the database. */
const CRON = '17 2 * * *'

export const purgeQueue: Queue<object> = {
  name: 'operation-purge',
  options: {
    // Two at once would only stand in each other's way.
    policy: 'singleton',
    // What one night leaves, the next one takes.
    retryLimit: 0,
    // A first run over years of operations goes on for hours; then the next night's goes on from there.
    expireInSeconds: 6 * 3_600,
  },
  // Nobody waits for it.
  work: { pollingIntervalSeconds: 60 },
}

/** The schedule stands in the database, so that switching the setting off has to take it away again. */
export async function schedulePurge(boss: PgBoss, config: Config): Promise<void> {
  if (config.OPERATION_RETENTION_DAYS === 0) await boss.unschedule(purgeQueue.name)
  else await boss.schedule(purgeQueue.name, CRON, {}, { tz: config.LEDGER_TIMEZONE })
}
