import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { type Asker, audit } from '../../accounts/audit.ts'
import { type Database, inTransaction, type Trx } from '../../database/database.ts'
import { isoDay, namedDay } from '../../day.ts'
import { Conflict } from '../../http/problem.ts'
import type { ForCaller } from '../../ledger/calls/read-for-caller.ts'
import {
  lockDecidable,
  type PaymentName,
  type PaymentStanding,
  paymentStanding,
  refuseUnknownOutcome,
} from '../locked-payment.ts'
import { requireAsSeen } from '../precondition.ts'
import { settle } from '../settle.ts'
import {
  type Booked,
  checkAtLedger,
  refuseUnfit,
  requirePersonForUnknown,
} from './check-resolution.ts'
import { nextPostingNumber, withoutRefusal } from './next-posting.ts'
import { saveNote } from './note.ts'
import { refuseCountedTwice } from './refuse-counted-twice.ts'
import type { FinalResolution, PaymentResolution } from './resolution.ts'
import { restore, reverse } from './reverse.ts'

type RequestedDecision = {
  name: PaymentName
  resolution: PaymentResolution
  ifMatch?: string | undefined
}

/** A payment as it was when the ledger was asked, and what the ledger has of the transaction that its resolution names. */
export type Seen = PaymentStanding & { booked: Booked | undefined }

/** The ledger's record of a payment, read before any locks, because no batch must wait for the ledger's answer. */
export async function seenFor(
  context: ForCaller & { db: Database },
  { name, resolution, ifMatch }: RequestedDecision,
  asker: Asker,
): Promise<Seen> {
  const seen = await paymentStanding(context.db, name)
  requireAsSeen(seen, ifMatch, asker)
  refuseUnknownOutcome(seen)
  refuseUnfit(seen, resolution)
  requirePersonForUnknown(seen, resolution, asker)
  return { ...seen, booked: await checkAtLedger(context, seen, resolution) }
}

export function resolveAsSeen(
  { db, boss }: { db: Database; boss: PgBoss },
  seen: Seen,
  { name, resolution, ifMatch }: RequestedDecision,
  asker: Asker,
): Promise<void> {
  const { outcome } = resolution
  return inTransaction(db, async trx => {
    const payment = await lockDecidable(trx, name)
    requireAsSeen(payment, ifMatch, asker)
    refuseUnfit(payment, resolution)
    refuseChange(seen, payment)
    await saveNote(trx, payment, resolution.note, asker)
    if (outcome === 'reopen') await reopen(trx, payment)
    else if (outcome === 'reverse') await reverse(trx, boss, payment)
    else if (outcome === 'restore') await restore(trx, boss, payment)
    else await decideAbout(trx, { ...payment, booked: seen.booked }, resolution)
    await audit(trx, {
      ...asker,
      action: OWN_ACTIONS.includes(outcome) ? `payment.${outcome}` : 'payment.resolve',
      subject: `${name.gateway}/${name.paymentId}`,
      detail: {
        ...resolution,
        kind: payment.kind,
        before: payment.loan,
        state: payment.state,
        reason: payment.reason,
        objection: payment.objection,
      },
    })
  })
}

const OWN_ACTIONS = ['reopen', 'reverse', 'restore']

/** Refuses a payment that has changed: what was checked, here and at the ledger, must be what is decided. */
function refuseChange(seen: PaymentStanding, payment: PaymentStanding): void {
  const isSame =
    seen.id === payment.id && seen.version === payment.version && seen.currency === payment.currency
  if (!isSame) throw new Conflict('The payment has changed in the meantime; reload it')
}

async function decideAbout(trx: Trx, payment: Seen, decision: FinalResolution) {
  if (payment.state === 'suspense') {
    await refuseCountedTwice(trx, payment, decision)
    await decide(trx, payment, decision)
  }
  await sql`select core.clear_objections(${payment.id})`.execute(trx)
  await settle(trx, [payment, ...(await undecidedTwins(trx, payment))])
}

/**
 * Payments that are not posted yet, and may be the same money as this unreadable event, which was just booked. They need
 * not name a loan.
 */
async function undecidedTwins(trx: Trx, { id }: PaymentStanding): Promise<{ id: string }[]> {
  const { rows } = await sql<{ id: string }>`
    select other.id
      from core.transaction t
      join core.transaction other
        on coalesce(other.external_loan_id, t.assigned_loan_id) = t.assigned_loan_id and other.gateway = core.gateway_of(t)
           and other.amount = t.decided_amount and other.state in ('waiting', 'suspense') and other.decision is null and other.id <> t.id
     where t.id = ${id} and t.problem = 'unreadable' and t.decision = 'post'`.execute(trx)
  return rows
}

async function decide(trx: Trx, { id }: PaymentStanding, resolution: FinalResolution) {
  const { outcome } = resolution
  const { loan, amount, day, transaction } = decisionOf(resolution)
  const isPost = outcome === 'post'
  await sql`
    update core.transaction t
       set decision = ${outcome},
           decided_over = jsonb_build_object(
             -- Later decisions keep this reason: refunds are not in the currency in which the payment was posted.
             'reason', case decided_over ->> 'reason' when 'currency_mismatch' then 'currency_mismatch' else reason end,
             'refused_reason', refused_reason, 'assigned_loan_id', assigned_loan_id, 'assigned_over', assigned_over),
           assigned_loan_id = coalesce(${loan}, assigned_loan_id),
           assigned_over = case when ${loan}::text is null then assigned_over else core.basis_of_choice(t) end,
           -- This is what goes to the loan, whatever went back before.
           decided_amount = ${amount}::numeric + coalesce(returned_amount, 0), decided_day = ${day}, ledger_transaction_id = ${transaction},
           posting_number = ${isPost ? nextPostingNumber : sql`posting_number`},
           -- A payment that was ever sent keeps its external id.
           booked_as = case when operation_id is null and problem = 'unreadable' then hints ->> 'payment_id' else booked_as end,
           payer_fee = null, ${withoutRefusal}, unconfirmed = null,
           -- Posting ends a refusal; otherwise, it returns when the payment is reopened.
           refused_detail = case when ${isPost} then null else refused_detail end
     where id = ${id}`.execute(trx)
}

function decisionOf(resolution: FinalResolution) {
  const nothing = { loan: null, amount: null, day: null, transaction: null }
  switch (resolution.outcome) {
    case 'post': {
      const day = namedDay(resolution.paid_on)
      if (day === undefined) throw new Error(`invalid day ${resolution.paid_on}`)
      const { external_loan_id: loan, amount } = resolution
      return { ...nothing, loan, amount: String(amount), day: isoDay(day) }
    }
    case 'handled': {
      const { external_loan_id: loan = null, ledger_transaction_id: transaction = null } =
        resolution
      return { ...nothing, loan, transaction }
    }
    case 'dismiss':
      return nothing
  }
}

/**
 * Puts a payment back in suspense, from where only an operator takes it: the reason that it had before the decision is
 * saved as its refusal, so that no batch posts it. `decided_over` stays until an operator decides again.
 */
async function reopen(trx: Trx, payment: PaymentStanding): Promise<void> {
  await sql`
    update core.transaction
       set decision = null, decided_amount = null, decided_day = null, ledger_transaction_id = null,
           decided_over = coalesce(decided_over, '{}'),
           assigned_loan_id = case when decided_over is null then assigned_loan_id else decided_over ->> 'assigned_loan_id' end,
           assigned_over = case when decided_over is null then assigned_over else nullif(decided_over -> 'assigned_over', 'null') end,
           refused_reason = coalesce(decided_over ->> 'refused_reason', case when kind = 'payment'
             then coalesce(decided_over ->> 'reason', 'awaiting_review') end),
           next_try_at = null
     where id = ${payment.id}`.execute(trx)
  await settle(trx, [payment])
}
