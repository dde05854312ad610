import { sql } from 'kysely'
import type { Database } from '../../../src/database/database.ts'
import type { Queue } from '../../../src/queue/queue.ts'

/** Adds an empty job, so that no test waits until the queue's worker looks by itself, seconds later. */
export async function wake(db: Database, queue: Queue<object>): Promise<void> {
  await sql`
    insert into pgboss.job (name, policy) select name, policy from pgboss.queue
     where name = ${queue.name}`.execute(db)
}
