import { sql } from 'kysely'
import { crashPoint } from '../crash-point.ts'
import type { Trx } from '../database/database.ts'
import type { Final } from '../engine/finish.ts'
import { lockSettling } from './lock-settling.ts'
import { countForEndedRuns } from './record-postings.ts'
import { REMAINDER_REFUSED } from './repayment-reversal.ts'
import { type Reversal, reversalIntake } from './reversal-intake.ts'
import { settle } from './settle.ts'

/** In the transaction that ends the reversals, as their payments must change at the same moment. */
export async function recordReversals(
  trx: Trx,
  ended: Final[],
): Promise<{ booked: number; refused: number }> {
  const results = ended
    .filter(({ claim }) => claim.operationType === reversalIntake.name)
    .map(resultOf)
  if (results.length === 0) return { booked: 0, refused: 0 }
  await lockSettling(trx)
  for (const result of results) await record(trx, result)
  await countForEndedRuns(trx, results)
  crashPoint('reversal.recorded')
  const refused = results.filter(({ failure }) => failure !== null).length
  return { booked: results.length - refused, refused }
}

type Result = ReturnType<typeof resultOf>

function resultOf({ claim, decision }: Final) {
  const { transaction_id, remainder } = claim.data as Reversal
  const failed = decision.status === 'failed' ? decision : null
  const isHalfDone = failed?.reason === REMAINDER_REFUSED
  const { resourceId = null } = (decision.status === 'success' ? decision.response : {}) as {
    resourceId?: number
  }
  return {
    id: transaction_id,
    operation_id: claim.id,
    posted: remainder === null ? null : resourceId,
    failure: isHalfDone ? null : (failed?.errorMessage ?? null),
    // Nothing was ever sent: it is as before.
    isRefused: failed !== null && failed.reason !== 'deadline',
    refusal: isHalfDone ? failed.errorMessage : null,
  }
}

async function record(
  trx: Trx,
  { id, operation_id, posted, failure, isRefused, refusal }: Result,
): Promise<void> {
  const { rows } = await sql<{ id: string | null }>`
    select core.end_reversal(${id}, ${operation_id}, ${posted}, ${failure}, ${isRefused}, ${refusal}) as id`.execute(
    trx,
  )
  const payment = rows[0]?.id
  if (payment) await settle(trx, [{ id: payment }])
}
