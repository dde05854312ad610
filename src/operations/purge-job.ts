import type { FastifyBaseLogger } from 'fastify'
import type { PgBoss } from 'pg-boss'
import type { Database } from '../database/database.ts'
import { work } from '../queue/queue.ts'
import { purgeOperations } from './purge.ts'
import { purgeQueue } from './purge-queue.ts'

/** Does what the schedule asks for. */
export function workPurge(
  db: Database,
  boss: PgBoss,
  options: { retentionDays: number; log: FastifyBaseLogger },
): Promise<void> {
  return work(boss, purgeQueue, async () => {
    // The job was already queued when the setting was switched off.
    if (options.retentionDays === 0) return
    const purged = await purgeOperations(db, options.retentionDays)
    options.log.info({ purged }, 'personal data of finished operations purged')
  })
}
