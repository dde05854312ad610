import type { PgBoss } from 'pg-boss'
import type { Database } from '../database/database.ts'
import type { BatchClaim } from './batch-claim.ts'

/** What the stages of a batch run work with. */
export type Batch = {
  db: Database
  boss: PgBoss
  claim: BatchClaim
  log: { error(object: object, message: string): void }
  /** @throws BatchLeft if this process must stop working on the run */
  check(): void
}

/** The process is stopping, or another worker has claimed the run, which continues with the remaining work. */
export class BatchLeft extends Error {
  constructor() {
    super('the batch run continues on another worker')
  }
}
