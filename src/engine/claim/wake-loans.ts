import type { PgBoss } from 'pg-boss'
import { crashPoint } from '../../crash-point.ts'
import type { Database } from '../../database/database.ts'
import { groupCommit } from '../../database/group-commit/group-commit.ts'
import type { Watch } from '../../database/watch.ts'
import type { Log } from '../../log/log.ts'
import { insertJobs } from '../../queue/queue.ts'
import { liveQueue, wakesOf } from '../queue.ts'

/** Wakes loans, and never rejects. The loans of many clients share a commit. */
export type WakeLoans = (loans: string[]) => Promise<void>

export function openWakeLoans(
  db: Database,
  boss: PgBoss,
  { watch, log }: { watch: Watch; log: Pick<Log, 'error'> },
): WakeLoans {
  const watched = watch.over('wake-ups')
  const woken = groupCommit<string[], undefined>(async groups => {
    crashPoint('wake.client-done')
    const wakes = wakesOf(groups.flat())
    await watched(() => db.transaction().execute(trx => insertJobs(boss, trx, liveQueue, wakes)))
    return groups.map(() => undefined)
  })
  return loans =>
    woken.submit(loans).catch(error => {
      log.error({ err: error }, 'waking loans failed; the sweep will find them')
    })
}
