import { sql } from 'kysely'
import { crashPoint } from '../../crash-point.ts'
import type { Trx } from '../../database/database.ts'
import type { Final } from '../../engine/finish/finish.ts'
import { cancelledRefusal, DEADLINE, operatorsRefusal } from '../../engine/finish/own-refusals.ts'
import { lockSettling } from '../lock-settling.ts'
import { settle } from '../settle.ts'
import { OWN_REFUSALS, reasonIs } from '../suspense-reasons.ts'
import { repaymentIntake } from './repayment-intake.ts'
import { mayBeBooked, PASSING_REASONS, type RefusalReason, TWIN } from './repayment-refusal.ts'

/** The operator who ended a repayment may have booked the payment by hand: only an operator sends it again. */
const BY_OPERATOR = [operatorsRefusal.reason, cancelledRefusal.reason]
/** Once the gateway has confirmed the payment, the same batch posts it after all. */
const UNCONFIRMED: RefusalReason = 'unconfirmed'
const NOTHING_LEFT: RefusalReason = 'nothing_left'
/** With these reasons, nothing was sent, so the payment is not marked as refused: its events decide again. */
const UNSENT: string[] = [DEADLINE, ...PASSING_REASONS]

/** Records results in the transaction that ends the repayments, so that no payment misses its result. */
export async function recordPostings(trx: Trx, ended: Final[]): Promise<{ overpaid: number }> {
  const results = ended
    .filter(({ claim }) => claim.operationType === repaymentIntake.name)
    .map(resultOf)
  if (results.length === 0) return { overpaid: 0 }
  await recordResults(trx, results)
  crashPoint('posting.recorded')
  return { overpaid: results.filter(({ overpaid }) => overpaid).length }
}

type PostingResult = ReturnType<typeof resultOf>

function resultOf({ claim, decision }: Final) {
  const { resourceId = null, overpaid = false } = bookedBy(decision)
  const given = decision.status === 'failed' ? decision.reason : undefined
  const isRefused = decision.status === 'failed' && !UNSENT.includes(given ?? '')
  const isByOperator = given !== undefined && BY_OPERATOR.includes(given)
  const reason = isRefused ? (OWN_REFUSALS.find(one => one === given) ?? 'ledger_refused') : null
  return {
    id: String(claim.data.transaction_id),
    operation_id: claim.id,
    ledger_transaction_id: resourceId,
    overpaid,
    refused_reason: reason,
    refused_detail: decision.status === 'failed' ? decision.errorMessage : null,
    is_retried: reasonIs('retried', reason) && !isByOperator,
    is_by_operator: isByOperator,
    is_unconfirmed: given === UNCONFIRMED,
    is_returned: given === NOTHING_LEFT,
    may_be_booked: decision.status === 'failed' && given !== TWIN && mayBeBooked(decision.response),
  }
}

export function bookedBy(decision: Final['decision']) {
  const response = decision.status === 'success' ? decision.response : {}
  return response as { resourceId?: number; overpaid?: boolean }
}

async function recordResults(trx: Trx, results: PostingResult[]): Promise<void> {
  const unposted = results.filter(result => result.ledger_transaction_id === null)
  if (unposted.length > 0) await lockSettling(trx)
  await sql`
    with result as (
      select *, ledger_transaction_id is not null as is_posted
        from json_to_recordset(${JSON.stringify(results)}) as (id uuid, operation_id uuid,
        ledger_transaction_id bigint, overpaid boolean, refused_reason text, refused_detail text, is_retried boolean,
        is_by_operator boolean, is_returned boolean, may_be_booked boolean)
    ), locked as (
      select t.id from core.transaction t join result on result.id = t.id and result.operation_id = t.operation_id
       where t.state = 'posting'
       -- Rows are locked in the order in which settling locks those of several gateways.
       order by t.gateway, t.gateway_payment_id for update of t
    ), changed as (
      update core.transaction t
         set state = case when result.is_posted then 'posted' when result.is_returned then 'returned' else 'waiting' end,
             reason = case when result.overpaid then 'overpaid' end,
             objection = case when result.is_posted then t.objection end,
             posted_at = case when result.is_posted then clock_timestamp() end,
             ledger_transaction_id = result.ledger_transaction_id,
             decided_over = case when result.is_by_operator then coalesce(t.decided_over, '{}') else t.decided_over end,
             -- A later try that ends for another reason does not say that the ledger's money is gone.
             may_be_booked = not result.is_posted and not result.is_returned and (t.may_be_booked or result.may_be_booked),
             refused_reason = result.refused_reason,
             refused_detail = result.refused_detail,
             refused_at = case when result.refused_reason is not null then coalesce(t.refused_at, now()) end,
             tries = t.tries + (result.refused_reason is not null)::integer,
             next_try_at = case when result.is_retried then core.next_try_at(t.tries, t.refused_at) end
        from result join locked on locked.id = result.id
       where t.id = result.id
      returning t.gateway, t.gateway_payment_id, t.state, t.objection, t.posting_number
    )
    -- A refund that came too late to stop the payment may be booked now, and what is posted once more has an objection if
    -- events contradict it: the next batch looks.
    insert into core.unjudged_payment (gateway, gateway_payment_id)
    select gateway, gateway_payment_id from changed
     where state = 'posted' and (objection in ('refund', 'chargeback') and exists (select from core.reversing) or posting_number > 1)
    on conflict do nothing`.execute(trx)
  if (unposted.length > 0) {
    await settle(trx, unposted)
    await leaveBatch(trx, unposted)
  }
  await countForEndedRuns(trx, results)
}

/**
 * Lets their batch try again the payments whose events changed meanwhile, and the unconfirmed ones once they are confirmed. One
 * that our settings alone find unconfirmed waits for the next batch: this one would try it for ever.
 */
async function leaveBatch(trx: Trx, unposted: Pick<PostingResult, 'id' | 'is_unconfirmed'>[]) {
  const unconfirmed = unposted.filter(result => result.is_unconfirmed)
  await sql`
    update core.transaction set batch_id = null
     where id = any(${unposted.map(({ id }) => id)}::uuid[])
       and (is_stale and state = 'waiting'
            or unconfirmed is not null
             and id = any(${unconfirmed.map(({ id }) => id)}::uuid[]))`.execute(trx)
}

/** A payment that still waited for the ledger when its run ended is counted for that run. */
export async function countForEndedRuns(
  trx: Trx,
  results: Pick<PostingResult, 'id' | 'operation_id'>[],
): Promise<void> {
  await sql`
    with late as (
      select batch_id as id, count(*) filter (where state = 'posted' and kind = 'payment') as posted,
             count(*) filter (where state = 'suspense') as suspended
        from core.transaction
       where id = any(${results.map(({ id }) => id)}::uuid[]) and operation_id = any(${results.map(one => one.operation_id)}::uuid[])
       group by batch_id
    ), run as (
      -- The lock decides whether a run that is just ending still counts these payments, or we add them.
      select id, status from core.batch_run where id in (select id from late) order by id for key share
    )
    update core.batch_run b set posted = b.posted + late.posted, suspended = b.suspended + late.suspended
      from late join run using (id)
     where b.id = late.id and run.status = 'completed'`.execute(trx)
}
