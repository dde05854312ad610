import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { prepared } from '../../database/pool/prepared.ts'
import { FIRST_ID } from '../../ids.ts'
import { sortable } from '../../ledger/day-format.ts'
import type { LedgerRepayment } from '../../ledger/loans/repayment.ts'
import { gatewayNamedIn } from './due-payment.ts'
import { spelt } from './spelt.ts'

type NotDue = {
  name: string
  because: keyof typeof WHY
  /** The transaction that was booked by hand, the payment that has the same money under another id, or the other loan. */
  evidence: string | null
}

/** Numbers of transfers of UPI and IMPS, before which spreadsheets drop zeros. */
const RRN_DIGITS = 12
const ONLY_DIGITS = /^\d+$/
const LEAVE_OUT = 'leave the row out'

/** Fields of the debit's row that do not apply to the payment, of which we know only what its debit says. */
const UNSEEN = JSON.stringify({
  id: FIRST_ID,
  state: 'posting',
  hints: {},
  decision: null,
  overruled: [],
  may_be_booked: false,
  returned_amount: null,
})

const WHY = {
  handled: `is handled, because its money was booked by hand: ${LEAVE_OUT}, or reopen the payment`,
  dismissed: `is dismissed, so that nothing is to be booked: ${LEAVE_OUT}, or reopen the payment`,
  returned: `is returned, because all of it went back: ${LEAVE_OUT}`,
  refund: `is in suspense, because of a refund: ${LEAVE_OUT}, or decide on the payment first`,
  chargeback: `is in suspense, because of a chargeback: ${LEAVE_OUT}, or decide on the payment first`,
  elsewhere: `is booked on another loan, or on its way there: ${LEAVE_OUT}, or correct its loan`,
  twin: `is the same money as another payment, which was booked, is being booked, went back or was dismissed: ${LEAVE_OUT}, or assign the payment if it is other money`,
}

/**
 * Why a payment in a file must not be booked; undefined if it may be. Without a gateway, the row may also name the payment by the
 * bank's reference. References repeat, and an id of digits may be the lender's own receipt number, so these must also agree in
 * day, amount and loan.
 */
export async function whyNotDue(
  db: Database,
  { externalId, receiptNumber, loanExternalId, day, amount }: LedgerRepayment,
): Promise<string | undefined> {
  const gateway = gatewayNamedIn(externalId) ?? null
  const isSure = gateway !== null || !ONLY_DIGITS.test(receiptNumber)
  const references =
    gateway === null && /[1-9]/.test(receiptNumber) ? spellingsOf(receiptNumber) : []
  const { rows } = await sql<NotDue>`${prepared('why_not_due')}
    select concat(t.gateway_payment_id, ' of ', t.gateway, case when t.is_by_reference then ', whose bank reference this is,' end) as name,
           case when t.elsewhere is not null then 'elsewhere' when not t.is_decided then 'twin'
                when t.state = 'suspense' then t.reason else t.state end as because,
           coalesce(t.elsewhere, t.twin, 'transaction ' || t.ledger_transaction_id || ' there') as evidence
      from (select p.*, d.is_decided,
                   coalesce(bool_or(p.is_by_reference and not d.is_decided and p.state in ('waiting', 'posting', 'suspense')) over (),
                     false) as is_other_open,
                   -- An operator may have left a part of the payment to this loan.
                   case when not p.is_by_reference and p.id <> ${FIRST_ID} and p.state in ('waiting', 'posting', 'posted')
                             and p.external_loan_id <> ${loanExternalId} and core.posted_amount(p.payment) + ${amount}::numeric > p.amount
                        then p.external_loan_id end as elsewhere,
                   -- What keeps its twin from being posted keeps it from being booked.
                   case when not d.is_decided and not core.is_of_own_money(p.payment)
                        then coalesce(core.twin_of(jsonb_populate_record(p.payment, '{"state": "posting"}')), p.dismissed) end as twin
              from (select p.*, p as payment, false as is_by_reference, null as dismissed from core.transaction p
                     where ${spelt(sql`p.gateway_payment_id`)} = ${spelt(sql`${receiptNumber}::text`)}
                     union all
                    select p.*, p, true, null from core.transaction p
                     where base.bank_reference(p.hints) = any((select ${references}::text[])::text[])
                     union all
                    -- The payment that only its debit names.
                    select p.*, p, false, case d.state when 'dismissed' then d.gateway_payment_id end
                      from core.transaction d
                     cross join lateral jsonb_populate_record(d,
                       ${UNSEEN}::jsonb || jsonb_build_object('gateway_payment_id', core.unseen_id_of(d))) p
                     where d.hints ->> 'cf_txn_id' = any((select ${[receiptNumber, receiptNumber.replace(/^\+?0*/, '')]}::text[])::text[])
                       and core.unseen_id_of(d) is not null and ${amount}::numeric in (d.amount, core.posted_amount(d))) p
             cross join lateral (
               select p.state in ('handled', 'dismissed', 'returned')
                      or p.state = 'suspense' and p.reason in ('refund', 'chargeback')) d (is_decided)
             where p.kind = 'payment' and (p.gateway = ${gateway}::text or ${gateway}::text is null)
               and (${isSure}::boolean and not p.is_by_reference
                    or ${amount}::numeric in (p.amount, core.posted_amount(p.payment)) and core.day_of(p.paid_at) = ${sortable(day)}::date
                       and coalesce(p.external_loan_id, ${loanExternalId}) = ${loanExternalId})) t
     where coalesce(t.elsewhere, t.twin) is not null
        -- One that was dismissed may be a copy of an open payment.
        or t.is_decided and not (t.state = 'dismissed' and t.is_by_reference and t.is_other_open)
     limit 1`.execute(db)
  const [found] = rows
  return found && inWords(found)
}

function inWords({ name, because, evidence }: NotDue): string {
  // As a function, because `$&` in an id would stand for the colon.
  const withEvidence = () => (evidence === null ? ':' : ` (${evidence}):`)
  return `${name} ${WHY[because].replace(':', withEvidence)}`
}

/** Banks write a reference in one way; files may have it in capitals, with more zeros before its digits or without them. */
function spellingsOf(reference: string): string[] {
  const all = [reference, reference.toLowerCase(), reference.toUpperCase()]
  if (!ONLY_DIGITS.test(reference)) return all
  const digits = reference.replace(/^0+/, '')
  return [...all, digits, digits.padStart(RRN_DIGITS, '0')]
}
