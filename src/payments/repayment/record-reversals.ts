import { sql } from 'kysely'
import { crashPoint } from '../../crash-point.ts'
import type { Trx } from '../../database/database.ts'
import type { Final } from '../../engine/finish/finish.ts'
import { DEADLINE } from '../../engine/finish/own-refusals.ts'
import { lockSettling } from '../lock-settling.ts'
import { settle } from '../settle.ts'
import { bookedBy, countForEndedRuns } from './record-postings.ts'
import { mayBeBooked } from './repayment-refusal.ts'
import { LEDGER_REFUSED, REFUSED } from './repayment-reversal.ts'
import { type Reversal, reversalIntake } from './reversal-intake.ts'

/** Records results in the transaction that ends the reversals, as their payments must change at the same moment. */
export async function recordReversals(trx: Trx, ended: Final[]) {
  const reversals = ended.filter(({ claim }) => claim.operationType === reversalIntake.name)
  if (reversals.length === 0) return { booked: 0, refused: 0 }
  const halfDone = await halfDoneOf(trx, reversals)
  const isHalfDone = ({ claim }: Final) => halfDone.has(claim.id)
  await lockSettling(trx)
  for (const one of reversals) await record(trx, { ...one, isHalfDone: isHalfDone(one) })
  await countForEndedRuns(
    trx,
    reversals.map(({ claim }) => ({ id: idOf(claim), operation_id: claim.id })),
  )
  crashPoint('reversal.recorded')
  const refused = reversals.filter(
    one => one.decision.status === 'failed' && !isHalfDone(one),
  ).length
  return { booked: reversals.length - refused, refused }
}

/** The reversals that undid the repayment but did not post the rest, because the ledger refused it or an operator ended them. */
async function halfDoneOf(trx: Trx, ended: Final[]): Promise<Set<string>> {
  const failed = ended.filter(({ decision }) => decision.status === 'failed')
  const { rows } = await sql<{ id: string }>`
    select id from loanops.operation
     where id = any(${failed.map(({ claim }) => claim.id)}::uuid[])
       and seen ->> 'undone' is not null`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

const idOf = ({ data }: Final['claim']) => (data as Reversal).transaction_id

async function record(trx: Trx, { claim, decision, isHalfDone }: Final & { isHalfDone: boolean }) {
  const failed = decision.status === 'failed' ? decision : null
  const { resourceId = null, overpaid = false } = bookedBy(decision)
  const posted = (claim.data as Reversal).remainder === null ? null : resourceId
  // A reversal that ends at its deadline was never sent: the payment is as before.
  const refused = failed === null || failed.reason === DEADLINE ? null : REFUSED
  // The repayment was not found as it was booked, or perhaps its undo arrived: only a new read-back can balance its day.
  if (refused !== null && failed?.reason !== LEDGER_REFUSED)
    await sql`
      update core.transaction set read_back_at = null where id = ${idOf(claim)}`.execute(trx)
  const recorded =
    failed === null || isHalfDone
      ? sql`core.end_reversal(${idOf(claim)}, ${claim.id}, ${posted})`
      : sql`core.refuse_reversal(${idOf(claim)}, ${claim.id}, ${refused}, ${failed.errorMessage})`
  const { rows } = await sql<{ id: string | null }>`select ${recorded} as id`.execute(trx)
  const payment = rows[0]?.id
  if (!payment) return
  if (isHalfDone && failed !== null) await refuseRemainder(trx, payment, failed)
  if (overpaid)
    await sql`
      update core.transaction set reason = 'overpaid'
       where id = ${payment} and state = 'posted'`.execute(trx)
  await settle(trx, [{ id: payment }])
}

type Failed = Extract<Final['decision'], { status: 'failed' }>

async function refuseRemainder(
  trx: Trx,
  payment: string,
  { reason, errorMessage, response }: Failed,
): Promise<void> {
  // Only what the ledger refused is tried again: otherwise an operator may have booked the remainder by hand.
  const isRetried = reason === REFUSED || reason === LEDGER_REFUSED
  await sql`
    update core.transaction
       set refused_reason = 'ledger_refused', refused_detail = ${errorMessage}, refused_at = now(),
           may_be_booked = ${mayBeBooked(response)},
           decided_over = case when ${isRetried} then decided_over else coalesce(decided_over, '{}') end,
           next_try_at = case when ${isRetried} then core.next_try_at(1, null) end
     where id = ${payment}`.execute(trx)
}
