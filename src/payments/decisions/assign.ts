import { sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import { type Database, inTransaction } from '../../database/database.ts'
import { DIFFERS } from '../../engine/refusal.ts'
import { Conflict } from '../../http/problem.ts'
import { isPaymentOutdated, lockDecidable, stateInWords } from '../locked-payment.ts'
import { requireAsSeen } from '../precondition.ts'
import { settle } from '../settle.ts'
import { isAssignable } from './decidable.ts'
import { nextPostingNumber, withoutRefusal } from './next-posting.ts'
import { saveNote } from './note.ts'
import { type Remembered, remember } from './remember.ts'

type Assignment = {
  gateway: string
  paymentId: string
  loan: string
  note?: string | undefined
  remembered?: Remembered | undefined
  asker: Asker
  ifMatch?: string | undefined
}

/** Only a refusal that names what is booked has shown it to the operator: after any other, the payment is looked for again. */
const overruledReason = sql`case when reason = 'ledger_refused' and (
  select o.response ->> 'userMessageGlobalisationCode' from loanops.operation o where o.id = t.operation_id) is distinct from ${DIFFERS}
  then 'refused_otherwise' else reason end`

export function assign(
  db: Database,
  { gateway, paymentId, loan, note, remembered, asker, ifMatch }: Assignment,
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
         set assigned_loan_id = ${loan}, assigned_over = core.basis_of_choice(t),
             decided_over = case when decision = 'post' then decided_over end,
             ${withoutRefusal}, refused_detail = null, posting_number = ${nextPostingNumber},
             -- Earlier reasons were about other facts, except that a repayment is undone at the ledger.
             overruled = case when ${isPaymentOutdated} then array(select one from unnest(overruled) one where one = 'reversed_at_ledger')
                              else overruled end || ${overruledReason}
       where id = ${payment.id}`.execute(trx)
    if (note !== undefined) await saveNote(trx, payment, note, asker)
    await settle(trx, [payment])
    if (remembered !== undefined) await remember(trx, payment.id, { ...remembered, loan }, asker)
    await audit(trx, {
      ...asker,
      action: 'payment.assign',
      subject: `${gateway}/${paymentId}`,
      detail: {
        external_loan_id: loan,
        before: payment.loan,
        reason: payment.reason,
        note,
        remember: remembered?.kinds,
      },
    })
  })
}
