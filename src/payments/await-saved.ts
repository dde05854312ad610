import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Batch } from './batch.ts'
import { eventQueue } from './queue.ts'

const ASK_EVERY_MS = 50
/** A batch does not wait longer for events that cannot be saved at the moment: the next one includes them. */
const PATIENCE_MS = 10_000

/** Waits until events acknowledged before the run started are saved: whoever requested the run expects them in it. */
export async function awaitSaved({ db, claim, check }: Batch): Promise<void> {
  const until = Date.now() + PATIENCE_MS
  while (Date.now() < until) {
    const { rows } = await sql`
      select from pgboss.job
       where name = ${eventQueue.name}
         and (state in ('created', 'active') or state = 'retry' and start_after <= ${new Date(until)})
         and created_on <= (select started_at from core.batch_run where id = ${claim.id})
       limit 1`.execute(db)
    if (rows.length === 0) return
    await pause(ASK_EVERY_MS)
    check()
  }
}
