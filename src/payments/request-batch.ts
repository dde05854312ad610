import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import type { Trx } from '../database/database.ts'
import { newId } from '../ids.ts'
import { insertJobs } from '../queue/queue.ts'
import { batchQueue } from './queue.ts'

/**
 * Requests a batch run: a new one, or the one that is already waiting.
 * @returns its id
 */
export async function requestBatch(
  trx: Trx,
  boss: PgBoss,
  trigger: 'schedule' | 'request',
): Promise<string> {
  for (;;) {
    await sql`
      insert into core.batch_run (id, trigger) values (${newId()}, ${trigger})
      on conflict (status) where status = 'waiting' do nothing`.execute(trx)
    const { rows } = await sql<{ id: string }>`
      select id from core.batch_run where status = 'waiting'`.execute(trx)
    // No row if the waiting run, which conflicted with ours, has been started in the meantime.
    if (rows[0] === undefined) continue
    await insertJobs(boss, trx, batchQueue, [{ data: {} }])
    return rows[0].id
  }
}
