import { Decimal } from 'decimal.js'
import { sql } from 'kysely'
import type { Facts } from '../../accounts/approvals/act-call.ts'
import type { Act } from '../../config/acts.ts'
import type { Trx } from '../../database/database.ts'
import { lockPayment, type PaymentName, type PaymentStanding } from '../locked-payment.ts'

/** The facts that a decision about this payment depends on. @param posted the amount that it would post */
export async function decisionFacts(
  trx: Trx,
  name: PaymentName,
  acts: Act[],
  posted?: string,
): Promise<Facts> {
  const payment = await lockPayment(trx, name)
  const { id, kind, state, reason, objection, loan, capturedAmount, currency, version } = payment
  const { events, digest } = await eventsOf(trx, name, payment)
  const decided = posted ?? payment.decidedAmount ?? undefined
  const amount = greaterOf(capturedAmount, decided)
  return {
    act: acts[0] as Act,
    subject: `${name.gateway}/${name.paymentId}`,
    // A reference applies to every later payment, whatever its amount.
    parts: acts.map(act => ({ act, amount: act === 'reference.write' ? null : amount })),
    amount: decided ?? capturedAmount,
    currency: decided !== undefined && payment.isConverted ? null : currency,
    shown: {
      kind,
      state,
      reason,
      objection,
      external_loan_id: loan,
      amount: capturedAmount,
      currency,
      verified: payment.isVerified,
      events,
    },
    state: [id, version, capturedAmount, currency, loan, digest],
  }
}

/**
 * The amount that rules compare: whoever posts less than was captured decides about all of it. Null if the captured amount
 * is unknown.
 */
const greaterOf = (captured: string | null, posted = '0'): string | null =>
  captured === null ? null : Decimal.max(captured, posted).toString()

/** The events that count: others, which anybody may send, decide nothing. */
async function eventsOf(trx: Trx, { gateway, paymentId }: PaymentName, { kind }: PaymentStanding) {
  const { rows } = await sql<{ events: number; digest: string }>`
    select count(*)::integer as events,
           coalesce(md5(string_agg(source || ' ' || raw_id, ',' order by source, raw_id)), '') as digest
      from core.weigh_events(${gateway}, array[${paymentId}::text])
     where kind = ${kind} and ignored_for is null`.execute(trx)
  return rows[0] ?? { events: 0, digest: '' }
}
