import type { PgBoss } from 'pg-boss'
import type { Config } from '../config/config.ts'
import type { Purge } from '../engine/feature.ts'
import { CATCH_UP, type Queue } from '../queue/queue.ts'

/** The purge runs in the night, off the full hours at which other programs start their work. */
const CRON = '17 2 * * *'

export const purgeQueue: Queue<object> = {
  name: 'operation-purge',
  options: {
    // Two purges at once would only block each other.
    policy: 'singleton',
    // What a worker that stops or dies leaves, another one continues. What fails each time is left to the next night.
    retryLimit: 5,
    // A database that restarts is back within a minute.
    retryDelay: 60,
    // A first run over years of operations takes hours; the next night's continues from there.
    expireInSeconds: 6 * 3_600,
    // A purge whose worker died must not keep the next one waiting for those hours. Several missed beats say so.
    heartbeatSeconds: 60,
  },
  // Nobody waits for a purge, and pg-boss's schedules are accurate only to a minute.
  work: { pollingIntervalSeconds: 60 },
}

/** The schedule is in the database, so switching the settings off must remove it. */
export async function schedulePurge(boss: PgBoss, config: Config, purges: Purge[]): Promise<void> {
  const isOff = purges.every(({ setting }) => config[setting] === 0)
  if (isOff) await boss.unschedule(purgeQueue.name)
  else await boss.schedule(purgeQueue.name, CRON, {}, { tz: config.LEDGER_TIMEZONE, ...CATCH_UP })
}
