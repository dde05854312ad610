import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import { lockSettling } from '../../payments/lock-settling.ts'
import { settle } from '../../payments/settle.ts'
import type { ReadbackFinding } from './read-repayments.ts'

export type FindingCounts = Awaited<ReturnType<typeof recordFindings>>

/** Records findings, except about a payment that changed since it was read: they say nothing about it. */
export async function recordFindings(trx: Trx, findings: ReadbackFinding[]) {
  await lockSettling(trx)
  const posted = findings.filter(({ reason }) => reason === null)
  const gone = findings.filter(({ reason }) => reason !== null)
  const recorded = await recordPosted(trx, posted)
  const suspended = gone.length > 0 ? await suspend(trx, gone) : []
  const changed = [...recorded.filter(one => one.isChanged), ...suspended]
  if (changed.length > 0) await settle(trx, changed)
  const count = (reason: string) => suspended.filter(one => one.reason === reason).length
  return {
    payments: recorded.length + suspended.length,
    reversed: count('reversed_at_ledger'),
    missing: count('missing_at_ledger'),
    differing: recorded.filter(one => one.isNewAndOpen).length,
  }
}

type Recorded = { id: string; isChanged: boolean; isNewAndOpen: boolean }

/**
 * A difference that an operator cleared is not new. Chargebacks that an operator named as what was booked for the payment's
 * refunds and disputes are cleared by that.
 */
async function recordPosted(trx: Trx, findings: ReadbackFinding[]): Promise<Recorded[]> {
  const { rows } = await sql<Recorded>`
    with locked as (${locked(findings)}), compared as (
      select *, is_open and is_told as is_cleared, recorded is distinct from difference or is_open and is_told as is_changed
        from locked
       cross join lateral (
         select difference is not null and 'differs_at_ledger ' || difference <> all (coalesce(cleared_facts, '{}')),
                cardinality(chargebacks) > 0 and chargebacks <@ array(
                  select r.ledger_transaction_id from core.transaction r
                   where r.of_payment_id = locked.gateway_payment_id and r.gateway = locked.gateway and r.kind <> 'payment'
                     and r.decision = 'handled' and r.ledger_transaction_id is not null)) f (is_open, is_told)
    )
    update core.transaction t
       set read_back_at = now(), difference = compared.difference, ledger_amount = compared.amount,
           cleared_facts = case when is_cleared then array_append(t.cleared_facts, 'differs_at_ledger ' || compared.difference)
                                else t.cleared_facts end
      from compared
     where t.id = compared.id
    returning t.id, is_changed as "isChanged",
              is_changed and is_open and is_told is not true as "isNewAndOpen"`.execute(trx)
  return rows
}

/**
 * Puts payments in suspense, from where only an operator posts them again. A decision to leave the booked payment as
 * it is ends with that booking.
 */
async function suspend(trx: Trx, findings: ReadbackFinding[]) {
  const { rows } = await sql<{ id: string; reason: string }>`
    with locked as (${locked(findings)})
    update core.transaction t
       set state = 'waiting', reason = null, posted_at = null, ledger_transaction_id = null, difference = null,
           ledger_amount = null, read_back_at = null, refused_reason = locked.reason, refused_detail = locked.detail, refused_at = now(),
           next_try_at = null, decision = case when t.decision = 'post' then t.decision end
      from locked
     where t.id = locked.id
    returning t.id, locked.reason`.execute(trx)
  return rows
}

/** Locks the payments whose operation is still the one that was read back, with what was found about each. */
function locked(findings: ReadbackFinding[]) {
  const rows = findings.map(({ payment: { id, operationId: operation_id }, ...finding }) => ({
    ...finding,
    id,
    operation_id,
  }))
  return sql`
    select t.id, t.gateway, t.gateway_payment_id, t.difference as recorded, t.cleared_facts,
           finding.chargebacks, finding.difference, finding.amount, finding.reason, finding.detail
      from core.transaction t
      join json_to_recordset(${JSON.stringify(rows)}) as finding (
             id uuid, operation_id uuid, difference text, amount numeric, reason text, detail text, chargebacks bigint[])
           using (id, operation_id)
     -- What is being reversed is void or missing meanwhile.
     where t.state in ('posted', 'returned') and not core.is_being_reversed(t)
     order by t.gateway, t.gateway_payment_id for update of t`
}
