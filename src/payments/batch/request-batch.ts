import type { PgBoss } from 'pg-boss'
import { INTERNAL_TOKEN_ACTOR } from '../../accounts/access/actor.ts'
import { type Asker, audit } from '../../accounts/audit.ts'
import { type Database, inTransaction, type Trx } from '../../database/database.ts'
import { requestRun } from '../../queue/request-run.ts'
import { batchQueue } from '../queue.ts'

export function requestBatch(trx: Trx, boss: PgBoss, trigger: 'schedule' | 'request') {
  return requestRun(trx, boss, { table: 'core.batch_run', queue: batchQueue }, trigger)
}

export function requestBatchNow(db: Database, boss: PgBoss, asker: Asker): Promise<string> {
  return inTransaction(db, async trx => {
    const subject = await requestBatch(trx, boss, 'request')
    // Systems request a batch every minute. If these requests were audited, they would bury what people do.
    if (asker.actor !== INTERNAL_TOKEN_ACTOR)
      await audit(trx, { ...asker, action: 'batch.request', subject })
    return subject
  })
}
