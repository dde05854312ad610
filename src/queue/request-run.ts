import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import type { Trx } from '../database/database.ts'
import { newId } from '../ids.ts'
import { insertJobs, type Queue } from './queue.ts'
import type { RunTable } from './run-claim.ts'

export async function requestRun(
  trx: Trx,
  boss: PgBoss,
  { table, queue }: { table: RunTable; queue: Queue<{ trigger?: 'schedule' }> },
  trigger: 'schedule' | 'request',
): Promise<string> {
  const runs = sql.table(table)
  for (;;) {
    await sql`
      insert into ${runs} (id, trigger) values (${newId()}, ${trigger})
      on conflict (status) where status = 'waiting' do nothing`.execute(trx)
    const { rows } = await sql<{ id: string }>`
      select id from ${runs} where status = 'waiting'`.execute(trx)
    // There is no row if the waiting run, which conflicted with ours, has been started in the meantime.
    if (rows[0] === undefined) continue
    await insertJobs(boss, trx, queue, [{ data: {} }])
    return rows[0].id
  }
}
