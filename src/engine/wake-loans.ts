import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { crashPoint } from '../crash-point.ts'
import type { Database } from '../database/database.ts'
import { groupCommit } from '../database/group-commit.ts'
import { prepared } from '../database/prepared.ts'
import type { Row } from '../database/row.ts'
import type { Watch } from '../database/watch.ts'
import { insertJobs } from '../queue/queue.ts'
import { liveQueue, wakesOf } from './queue.ts'

/** Many clients share a commit. */
export type WakeLoans = (client: string) => Promise<unknown>

export function openWakeLoans(db: Database, boss: PgBoss, { watch }: { watch: Watch }): WakeLoans {
  const watched = watch.over('wake-ups')
  const woken = groupCommit<string, undefined>(async clients => {
    await watched(() => wakeWaitingFor(db, boss, clients))
    return clients.map(() => undefined)
  })
  return woken.submit
}

async function wakeWaitingFor(db: Database, boss: PgBoss, clients: string[]): Promise<void> {
  crashPoint('wake.client-done')
  const subjects = await readyLoans(db, clients)
  if (subjects.length === 0) return
  await db.transaction().execute(trx => insertJobs(boss, trx, liveQueue, wakesOf(subjects)))
}

export async function readyLoans(db: Database, clients: string[]): Promise<string[]> {
  const { rows } = await sql<Row<'loanops.operation', 'subject'>>`${prepared('ready_loans')}
    select distinct o.subject
      from unnest((select ${clients}::text[])) as client (subject)
      left join lateral (
        select seq from loanops.operation
         where subject = client.subject and status = 'processing'
         order by seq limit 1) next on true
     cross join lateral (
        select subject from loanops.operation
         where waits_for = client.subject and status = 'processing'
           and claimed_by is null and (next.seq is null or seq < next.seq)
        offset 0) o`.execute(db)
  return rows.map(({ subject }) => subject)
}
