import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { rowById } from '../../http/lists/row-by-id.ts'
import { isConverted, isPaymentOutdated, unreadableKind } from '../../payments/locked-payment.ts'
import type { ReferenceKind } from '../../payments/references/reference-record.ts'
import { MAX_COUNTED } from '../lists/count.ts'

/** Anybody may send events of refunds that nothing proves: those that are proved come first. */
export const MAX_AGAINST = 100

export type PaymentContext = {
  unreadableKind: string | null
  isOutdated: boolean
  note: string | null
  notedBy: string | null
  /** What goes to the loan, where that is not the amount captured; `day` only if an operator decided so. */
  forLoan: { amount: string; day: string | null; isConverted: boolean } | null
  /** The tracking id of the payment's last repayment. */
  repayment: string | null
  against: { gateway: string; gateway_payment_id: string; kind: 'refund' | 'chargeback' }[]
  /** The payment's references, while it is in suspense, and how many other payments wait with them. */
  refs: { kind: ReferenceKind; values: string[]; others: number }[]
  statement: {
    status: string
    amount: string
    currency: string
    captured_at: string
    source: string
  } | null
}

export function paymentContext(
  db: Database,
  id: string,
  { gateway, gateway_payment_id }: { gateway: string; gateway_payment_id: string },
): Promise<PaymentContext> {
  const context = sql<PaymentContext>`
    select ${unreadableKind} as "unreadableKind", ${isPaymentOutdated} as "isOutdated", t.note, t.noted_by as "notedBy",
           case when t.kind = 'payment' and (t.decision = 'post' or t.payer_fee > 0) then
             json_build_object('amount', trim_scale(core.posted_amount(t))::text, 'day', t.decided_day, 'isConverted', ${isConverted})
           end as "forLoan",
           (select loanops.tracking_id(o) from loanops.operation o where o.id = t.operation_id) as repayment,
           (select coalesce(json_agg(a), '[]')
              from (select a.gateway, a.gateway_payment_id, a.kind from core.transaction a
                     where a.of_payment_id = t.gateway_payment_id and a.gateway = t.gateway and a.kind <> 'payment'
                     order by a.is_verified desc, a.id limit ${MAX_AGAINST + 1}) a) as against,
           (select coalesce(json_agg(json_build_object('kind', kind, 'values', own.values, 'others', (
                     select count(*) from (select from core.transaction o
                                            where o.refs && own.refs and o.gateway = t.gateway and o.id <> t.id
                                              and o.state = 'suspense' and o.reason = 'no_loan_named'
                                            limit ${MAX_COUNTED + 1}) other))), '[]')
              from (select split_part(ref, ':', 1), array_agg(ref), array_agg(substr(ref, strpos(ref, ':') + 1))
                      from unnest(t.refs) ref where t.state = 'suspense' group by 1) own (kind, refs, values)) as refs,
           (select json_build_object('status', s.status, 'amount', s.amount::text, 'currency', s.currency,
                                     'captured_at', s.captured_at, 'source', s.source)
              from ops.statement s
             where s.gateway = ${gateway} and s.gateway_payment_id = ${gateway_payment_id} limit 1) as statement
      from core.transaction t where t.id = ${id}`
  return rowById(db, id, `No payment ${gateway_payment_id} of ${gateway}`, context)
}
