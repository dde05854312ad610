import type { Database } from '../database/database.ts'
import { keepRenewing } from '../database/lease.ts'
import { type LeasedTable, type RunClaim, renewRun } from './run-claim.ts'

/** The process is stopping, or another worker has claimed the run, which continues with the remaining work. */
export class RunLeft extends Error {
  constructor(options?: ErrorOptions) {
    super('the run continues on another worker', options)
  }
}

export function keepClaim(
  db: Database,
  table: LeasedTable,
  claim: RunClaim,
  isStopping: () => boolean,
) {
  let isLost = false
  const renewal = keepRenewing(async () => {
    isLost ||= !(await renewRun(db, table, claim))
  })
  return {
    /** @throws RunLeft once the run is no longer ours */
    check(): void {
      if (isLost || isStopping()) throw new RunLeft()
    },
    stop: renewal.stop,
  }
}
