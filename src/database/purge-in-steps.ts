import type { RawBuilder } from 'kysely'
import type { Database } from './database.ts'
import { inSteps } from './in-steps.ts'

/** Purges what is older than this many days, until the signal stops it. @returns how much it purged */
export type PurgeRun = (
  db: Database,
  retentionDays: number,
  stopping?: AbortSignal,
) => Promise<number>

export async function purgeInSteps<Place>(
  first: Place,
  step: (after: Place) => Promise<{ purged: number; last: Place | null }>,
  stopping?: AbortSignal,
): Promise<number> {
  let all = 0
  await inSteps(
    first,
    async after => {
      const { purged, last } = await step(after)
      all += purged
      return last
    },
    stopping,
  )
  return all
}

/** Few enough rows that nobody notices their locks. */
const ROWS_AT_ONCE = 500

/** Purges until a step finds fewer rows than it may purge. @returns how much all steps purged */
export function purgeAll(
  step: (most: number) => Promise<number>,
  stopping?: AbortSignal,
  most = ROWS_AT_ONCE,
): Promise<number> {
  const next = async () => {
    const purged = await step(most)
    return { purged, last: purged < most ? null : true }
  }
  return purgeInSteps(true, next, stopping)
}

/**
 * Repeats a purge statement until it purges fewer rows than it may.
 * @param statement an update or a delete; Kysely counts no rows of a select, so its purge would never end
 */
export const purgeBy =
  (
    statement: (retentionDays: number, most: number) => RawBuilder<unknown>,
    most?: number,
  ): PurgeRun =>
  (db, retentionDays, stopping) => {
    const step = async (upTo: number) =>
      Number((await statement(retentionDays, upTo).execute(db)).numAffectedRows)
    return purgeAll(step, stopping, most)
  }
