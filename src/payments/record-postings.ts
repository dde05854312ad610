import { sql } from 'kysely'
import { crashPoint } from '../crash-point.ts'
import type { Trx } from '../database/database.ts'
import type { Ended } from '../engine/finish.ts'
import { repaymentIntake } from './repayment-intake.ts'
import { settle } from './settle.ts'

/** Refusals of ours by their codes, and those of the ledger that say the same. All others are `ledger_refused`. */
const REASONS: Record<string, string> = {
  'loanops.loan_unknown': 'loan_unknown',
  'error.msg.loan.external.id.invalid': 'loan_unknown',
  'loanops.loan_not_active': 'loan_not_active',
  'error.msg.loan.must.be.active.fully.paid.or.overpaid': 'loan_not_active',
  'loanops.signature_not_verified': 'signature_not_verified',
  'loanops.sender_not_allowed': 'sender_not_allowed',
  'loanops.lender_mismatch': 'lender_mismatch',
  'loanops.currency_mismatch': 'currency_mismatch',
  'loanops.amount_invalid': 'amount_invalid',
  'loanops.reversed_at_ledger': 'reversed_at_ledger',
}
/** Time may heal these: the loan is made, disbursed, the ledger or our settings set right. */
const RETRIED_REASONS = ['loan_unknown', 'loan_not_active', 'ledger_refused', 'sender_not_allowed']
/** He may have booked it by hand: nothing but his word sends it once more. */
const BY_OPERATOR = 'loanops.resolved.by.operator'
/** Nothing was ever sent, and no refusal of its own is left: what it is now follows from its events. */
const UNSENT = ['loanops.deadline', 'loanops.withdrawn']

/** Says what the payments are whose repayments have ended. Call it in the transaction in which they end. */
export async function recordPostings(trx: Trx, ended: Ended[]): Promise<{ overpaid: number }> {
  const results = ended
    .filter(({ claim }) => claim.operationType === repaymentIntake.name)
    .map(resultOf)
  if (results.length === 0) return { overpaid: 0 }
  await keep(trx, results)
  crashPoint('posting.recorded')
  return { overpaid: results.filter(({ overpaid }) => overpaid).length }
}

type PostingResult = {
  id: string
  operation_id: string
  ledger_transaction_id: number | null
  overpaid: boolean
  refused_reason: string | null
  refused_detail: string | null
  is_retried: boolean
}

function resultOf({ claim, ending }: Ended): PostingResult {
  const response = (ending.status === 'processing' ? {} : ending.response) as {
    resourceId?: number
    overpaid?: boolean
    errors?: { userMessageGlobalisationCode?: string }[]
  }
  const code = response.errors?.[0]?.userMessageGlobalisationCode ?? ''
  const isRefused = ending.status === 'failed' && !UNSENT.includes(code)
  const reason = isRefused ? (REASONS[code] ?? 'ledger_refused') : null
  return {
    id: String(claim.data.transaction_id),
    operation_id: claim.id,
    ledger_transaction_id: ending.status === 'success' ? (response.resourceId ?? null) : null,
    overpaid: response.overpaid === true,
    refused_reason: reason,
    refused_detail: ending.status === 'failed' ? ending.errorMessage : null,
    is_retried: reason !== null && RETRIED_REASONS.includes(reason) && code !== BY_OPERATOR,
  }
}

async function keep(trx: Trx, results: PostingResult[]): Promise<void> {
  const unposted = results.filter(result => result.ledger_transaction_id === null)
  // Before the rows: a batch that transforms holds it while it waits for them.
  if (unposted.length > 0) await sql`select core.lock_settling()`.execute(trx)
  await sql`
    with result as (
      select * from json_to_recordset(${JSON.stringify(results)}) as (id uuid, operation_id uuid,
        ledger_transaction_id bigint, overpaid boolean, refused_reason text, refused_detail text, is_retried boolean)
    ), held as (
      select t.id from core.transaction t join result on result.id = t.id and result.operation_id = t.operation_id
       where t.state = 'posting'
       order by t.gateway_payment_id, t.gateway for update of t
    )
    update core.transaction t
       set state = case when result.ledger_transaction_id is null then 'waiting' else 'posted' end,
           reason = case when result.overpaid then 'overpaid' end,
           -- A refund stands beside what is posted; what disagrees with it does not.
           objection = case when result.ledger_transaction_id is not null then nullif(nullif(t.objection, 'refund'), 'chargeback') end,
           posted_at = case when result.ledger_transaction_id is not null then clock_timestamp() end,
           ledger_transaction_id = result.ledger_transaction_id,
           refused_reason = result.refused_reason,
           refused_detail = result.refused_detail,
           refused_at = case when result.refused_reason is not null then coalesce(t.refused_at, now()) end,
           tries = t.tries + (result.refused_reason is not null)::integer,
           next_try_at = case when result.is_retried then core.next_try_at(t.tries, t.refused_at) end
      from result join held on held.id = result.id
     where t.id = result.id`.execute(trx)
  if (unposted.length > 0) await settle(trx, unposted)
  await countForEndedRuns(trx, results)
}

/** What waited for the ledger when its run ended is still that run's. */
async function countForEndedRuns(trx: Trx, results: PostingResult[]): Promise<void> {
  await sql`
    with late as (
      select batch_id as id, count(*) filter (where state = 'posted') as posted,
             count(*) filter (where state = 'suspense') as suspended
        from core.transaction
       where id = any(${results.map(({ id }) => id)}::uuid[]) and operation_id = any(${results.map(one => one.operation_id)}::uuid[])
       group by batch_id
    ), run as (
      -- A run that is just ending counts what is committed: it waits for us, or we for it.
      select id, status from core.batch_run where id in (select id from late) order by id for key share
    )
    update core.batch_run b set posted = b.posted + late.posted, suspended = b.suspended + late.suspended
      from late join run using (id)
     where b.id = late.id and run.status = 'completed'`.execute(trx)
}
