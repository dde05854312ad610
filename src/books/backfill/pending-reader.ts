import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'

/** A webhook that arrives between two readings may be counted as missed, which does no other harm. */
const READ_EVERY_MS = 2_000
/** The rest is a multiple of the reading's own duration, so that a large backlog takes at most a tenth of a fetch. */
const REST_PER_READING = 10

/** @returns a function that reads new events, if it is time; only the first reading delays its caller */
export function pendingReader(db: Database, backfillId: string): () => Promise<void> {
  let first: Promise<void> | undefined
  let nextAt = 0
  const read = async () => {
    const startedAt = performance.now()
    // No other reading begins before this one has ended.
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
    // The next reading makes up for one that fails.
    if (performance.now() >= nextAt) read().catch(() => undefined)
    await first
  }
}

export async function forgetPending(db: Database, backfillId: string): Promise<void> {
  await sql`
    delete from core.backfill_pending n
     where n.backfill_id = ${backfillId}
        or not exists (select from core.backfill b
                        where b.id = n.backfill_id and b.status = 'running')`.execute(db)
}
