import type { PgBoss } from 'pg-boss'
import { type Asker, audit } from '../../accounts/audit.ts'
import { type Database, inTransaction } from '../../database/database.ts'
import { endUntried } from '../../engine/finish/end-untried.ts'
import type { OnFinal } from '../../engine/finish/finish.ts'
import { cancelledRefusal } from '../../engine/finish/own-refusals.ts'
import { trackingId } from '../../engine/operation.ts'
import { Conflict } from '../../http/problem.ts'
import { UnknownTrackingId } from '../tracking-id.ts'

type Context = { db: Database; boss: PgBoss; onFinal: OnFinal }

/** @returns what counts it in metrics, to be called after the commit */
export async function cancelOperation(
  context: Context,
  tracked: { operationType: string; id: string },
  asker: Asker,
): Promise<() => void> {
  return inTransaction(context.db, async trx => {
    const end = await endUntried(trx, context, tracked, cancelledRefusal)
    if (end === 'unknown') throw new UnknownTrackingId()
    if (end === 'tried')
      throw new Conflict(
        'Only an operation that has neither been attempted nor ended can be cancelled',
      )
    await audit(trx, { ...asker, action: 'operation.cancel', subject: trackingId(tracked) })
    return end
  })
}
