import { setTimeout as sleep } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { eventQueue } from '../queue.ts'
import type { Batch } from './batch.ts'

const ASK_EVERY_MS = 50
/** Events that cannot be saved now are left to the next batch. */
const PATIENCE_MS = 10_000

/** Waits until all events acknowledged before the run started are saved: callers expect the run to include them. */
export async function awaitSaved(
  { db, check }: Pick<Batch, 'db' | 'check'>,
  startedAt: RawBuilder<unknown>,
): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  while (performance.now() < until) {
    const { rows } = await sql`
      select from pgboss.job
       where name = ${eventQueue.name}
         and (state in ('created', 'active') or state = 'retry' and start_after <= now() + ${until - performance.now()} * interval '1 ms')
         and created_on <= (${startedAt})
       limit 1`.execute(db)
    if (rows.length === 0) return
    await sleep(ASK_EVERY_MS)
    check()
  }
}
