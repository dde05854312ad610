import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'

/** A webhook that has arrived since may be counted as missed, which does no other harm. */
const READ_EVERY_MS = 2_000
/** Times the duration of a reading, so that reading a large backlog takes at most a tenth of a fetch. */
const REST_PER_READING = 10

/**
 * Reads the events that no batch has taken yet, from time to time: each event once, however many pages are fetched.
 * @returns a function that reads new events, if it is time; only the first reading holds up its caller
 */
export function pendingReader(db: Database, backfillId: string): () => Promise<void> {
  let first: Promise<void> | undefined
  let nextAt = 0
  const read = async () => {
    const startedAt = performance.now()
    // Not again before this reading has ended.
    nextAt = Number.POSITIVE_INFINITY
    try {
      await sql`select core.read_pending(${backfillId})`.execute(db)
    } finally {
      const endedAt = performance.now()
      nextAt = endedAt + Math.max(READ_EVERY_MS, REST_PER_READING * (endedAt - startedAt))
    }
  }
  return async () => {
    first ??= read()
    // One that fails is followed by another.
    if (performance.now() >= nextAt) read().catch(() => undefined)
    await first
  }
}

/** Forgets what fetches that ended have read, and what this one read before it was interrupted. */
export async function forgetPending(db: Database, backfillId: string): Promise<void> {
  await sql`
    delete from core.backfill_pending n
     where n.backfill_id = ${backfillId}
        or not exists (select from core.backfill b where b.id = n.backfill_id and b.status = 'running')`.execute(
    db,
  )
}
