import { sql } from 'kysely'
import { type Asker, audit } from '../accounts/audit.ts'
import type { Database, Trx } from '../database/database.ts'
import { Conflict, NotFound } from '../http/problem.ts'
import { settle } from './settle.ts'

const ASSIGNABLE = [
  'no_loan_named',
  'loan_unknown',
  'loan_not_active',
  'lender_mismatch',
  'signature_not_verified',
  'ledger_refused',
  'reversed_at_ledger',
  'missing_at_ledger',
  'awaiting_review',
]

type Assignment = { gateway: string; paymentId: string; loan: string; asker: Asker }

/** Takes a payment out of suspense, to be posted to that loan by the next batch. */
export function assign(db: Database, { gateway, paymentId, loan, asker }: Assignment) {
  return db.transaction().execute(async trx => {
    // Before the row lock, in the same order as wherever payments are settled.
    await sql`select core.lock_settling()`.execute(trx)
    const payment = await lockedPayment(trx, gateway, paymentId)
    if (payment.state !== 'suspense' || !ASSIGNABLE.includes(payment.reason ?? '')) {
      const reason = payment.reason === null ? '' : ` (${payment.reason})`
      throw new Conflict(`The payment is in state ${payment.state}${reason}: it cannot be assigned`)
    }
    if (payment.isUnknown)
      throw new Conflict('An attempt to post the payment has an unknown outcome')
    await sql`
      update core.transaction
         set assigned_loan_id = ${loan}, refused_reason = null, refused_at = null, tries = 0, next_try_at = null,
             overruled = array_append(overruled, ${payment.reason}),
             posting_number = posting_number + ${payment.reason === 'reversed_at_ledger' ? 1 : 0}
       where id = ${payment.id}`.execute(trx)
    await settle(trx, [payment])
    await audit(trx, {
      ...asker,
      action: 'payment.assign',
      subject: `${gateway}/${paymentId}`,
      detail: { external_loan_id: loan, before: payment.loan, reason: payment.reason },
    })
  })
}

async function lockedPayment(trx: Trx, gateway: string, paymentId: string) {
  const { rows } = await sql<{
    id: string
    state: string
    reason: string | null
    loan: string | null
    isUnknown: boolean
  }>`
    select id, state, reason, external_loan_id as loan,
           exists (select from loanops.operation o
                    where o.id = t.operation_id and o.status = 'processing' and o.unknown_since is not null) as "isUnknown"
      from core.transaction t
     where gateway_payment_id = ${paymentId} and gateway = ${gateway} and kind = 'payment'
       for update`.execute(trx)
  if (rows[0] === undefined) throw await missing(trx, gateway, paymentId)
  return rows[0]
}

async function missing(trx: Trx, gateway: string, paymentId: string) {
  const { rows } = await sql<{ kind: string }>`
    select kind from core.transaction where gateway_payment_id = ${paymentId} and gateway = ${gateway} limit 1`.execute(
    trx,
  )
  return rows[0] === undefined
    ? new NotFound(`There is no payment ${paymentId} of ${gateway}`)
    : new Conflict(`${paymentId} is a ${rows[0].kind}: only a payment can be assigned`)
}
