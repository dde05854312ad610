import { sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import { madeUp, placeholder } from '../../csv/made-up-values.ts'
import type { Database, Trx } from '../../database/database.ts'
import { inTransaction } from '../../database/in-transaction.ts'
import { Conflict } from '../../http/problem.ts'
import { isOutdated, lockDecidable, stateInWords } from '../locked-payment.ts'
import { requireAsSeen } from '../precondition.ts'
import { putReference } from '../references/put-reference.ts'
import type { ReferenceKind, ReferenceName } from '../references/reference-record.ts'
import { settle } from '../settle.ts'
import { isAssignable } from './decidable.ts'
import { nextPostingNumber, withoutRefusal } from './next-posting.ts'
import { saveNote } from './note.ts'

type Assignment = {
  gateway: string
  paymentId: string
  loan: string
  note?: string | undefined
  /** Kinds of the payment’s references to store for the loan. */
  kinds?: ReferenceKind[] | undefined
  asker: Asker
  ifMatch?: string | undefined
}

export function assign(
  db: Database,
  { gateway, paymentId, loan, note, kinds, asker, ifMatch }: Assignment,
) {
  return inTransaction(db, async trx => {
    const payment = await lockDecidable(trx, { gateway, paymentId })
    requireAsSeen(payment, ifMatch, asker)
    if (payment.kind !== 'payment')
      throw new Conflict(`${paymentId} is a ${payment.kind}: only a payment can be assigned`)
    if (!isAssignable(payment))
      throw new Conflict(`Cannot assign a payment in state ${stateInWords(payment)}`)
    await sql`
      update core.transaction t
         set assigned_loan_id = ${loan}, assigned_over = core.facts_to_choose_over(t),
             decided_over = case when decision = 'post' then decided_over end,
             ${withoutRefusal}, refused_detail = null, posting_number = ${nextPostingNumber},
             -- What was overruled before was a reason of other facts, except that the ledger has undone a repayment.
             overruled = case when ${isOutdated} then array(select one from unnest(overruled) one where one = 'reversed_at_ledger')
                              else overruled end || reason
       where id = ${payment.id}`.execute(trx)
    if (note !== undefined) await saveNote(trx, payment, note, asker)
    await settle(trx, [payment])
    if (kinds !== undefined) await remember(trx, payment.id, { kinds, loan }, asker)
    await audit(trx, {
      ...asker,
      action: 'payment.assign',
      subject: `${gateway}/${paymentId}`,
      detail: {
        external_loan_id: loan,
        before: payment.loan,
        reason: payment.reason,
        note,
        remember: kinds,
      },
    })
  })
}

/**
 * Saves the payment's own references of these kinds for the loan. @throws Conflict if one is a placeholder, or
 * belongs to another loan, or only on some days
 */
async function remember(
  trx: Trx,
  payment: string,
  { kinds, loan }: { kinds: ReferenceKind[]; loan: string },
  asker: Asker,
) {
  const { rows } = await sql<ReferenceName>`
    select t.gateway, k.kind, substr(ref, length(k.kind) + 2) as value
      from core.transaction t cross join lateral unnest(t.refs) ref cross join lateral split_part(ref, ':', 1) k (kind)
     where t.id = ${payment} and k.kind = any(${kinds})
     order by ref`.execute(trx)
  for (const one of rows) {
    if ((madeUp(one.value) ?? placeholder(one.value)) !== undefined)
      throw new Conflict(
        `The ${one.kind} ${one.value} is a placeholder, not an id: leave ${one.kind} out of remember`,
      )
    await putReference(trx, { ...one, external_loan_id: loan }, asker, { keepsDays: true })
  }
}
