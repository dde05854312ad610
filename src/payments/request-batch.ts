import type { PgBoss } from 'pg-boss'
import type { Trx } from '../database/database.ts'
import { requestRun } from '../queue/request-run.ts'
import { batchQueue } from './queue.ts'

/**
 * Requests a batch run: a new one, or the one that is already waiting.
 * @returns its id
 */
export function requestBatch(
  trx: Trx,
  boss: PgBoss,
  trigger: 'schedule' | 'request',
): Promise<string> {
  return requestRun(trx, boss, { table: 'core.batch_run', queue: batchQueue }, trigger)
}
