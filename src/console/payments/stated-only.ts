import { html } from 'hono/html'
import { sql } from 'kysely'
import type { PaymentName } from '../../payments/locked-payment.ts'
import { amount } from '../frame/formats.ts'
import { facts, type Html, linked, nothing } from '../frame/html.ts'
import { settlementPath } from '../frame/paths.ts'
import type { PageContext } from '../page-context.ts'

type Stated = {
  source: string
  amount: string
  /** The rest is null of a payment that only its settlement's list has. */
  lender: string | null
  status: string | null
  currency: string | null
  captured_at: Date | null
  day: string | null
  settlement_id: string | null
}

/**
 * What to show of a payment that only its gateway's statement, or the list of its settlement, has; undefined if none has it,
 * or an event reported it.
 */
export async function statedOnly(
  { db, formats }: Pick<PageContext, 'db' | 'formats'>,
  { gateway, paymentId, kind = 'payment' }: PaymentName,
): Promise<Html | undefined> {
  const { rows } = await sql<Stated>`
    select lender, status, amount::text as amount, currency, captured_at, core.day_of(captured_at)::text as day, source, settlement_id
      from (select lender, status, amount, currency, captured_at, source, settlement_id
              from core.current_statement where gateway_payment_id = ${paymentId} and gateway = ${gateway}
            union all
            select lender, null, amount, null, null, case when statement_id is null then 'api' else 'file' end, settlement_id
              from core.current_settlement_row where id = ${paymentId} and gateway = ${gateway} and kind = 'payment') s
     where ${kind} = 'payment'
       and not exists (select from core.transaction where gateway_payment_id = ${paymentId} and gateway = ${gateway})
     order by captured_at nulls last, settlement_id desc limit 1`.execute(db)
  const [stated] = rows
  if (stated === undefined) return undefined
  const { settlement_id: settlement, day, lender } = stated
  return html`<h1>Payment ${paymentId}</h1>
<p class="hint">Only its ${day === null ? 'settlement’s list' : 'gateway’s statement'} has this payment: no event reported it.
${day === null ? nothing : html`<a href="/console/books?${bookOf({ day, lender: lender ?? '', gateway })}">Its day in the books</a>`}</p>
${facts([
  ['The gateway says', stated.status],
  ['Amount', amount(stated.amount, stated.currency)],
  ['Paid', formats.time(stated.captured_at)],
  ['Lender', lender],
  ['Stated by', stated.source],
  ['Settlement', linked(settlement, settlementPath)],
])}`
}

const bookOf = ({ day, ...of }: { day: string; lender: string; gateway: string }) =>
  new URLSearchParams({ from: day, to: day, ...of }).toString()
