import type { PgBoss } from 'pg-boss'
import type { Database } from '../database/database.ts'
import type { BatchClaim } from './batch-claim.ts'

/** What the stages of a batch run work with. */
export type Batch = {
  db: Database
  boss: PgBoss
  claim: BatchClaim
  log: { error(object: object, message: string): void }
  /** @throws BatchLeft where the run has to be left to somebody else */
  check(): void
}

/** The process stops, or somebody else has taken the run up: what is done is done, the rest is theirs. */
export class BatchLeft extends Error {
  constructor() {
    super('the batch run is left to another worker')
  }
}
