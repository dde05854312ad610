import { html } from 'hono/html'
import { sql } from 'kysely'
import type { Row } from '../../database/row.ts'
import type { PaymentName } from '../../payments/locked-payment.ts'
import { facts } from '../frame/facts.ts'
import { amount } from '../frame/formats.ts'
import type { Html } from '../frame/html.ts'
import { settlementPath } from '../frame/paths.ts'
import type { PageContext } from '../page-context.ts'

type Stated = Row<'core.statement', 'lender' | 'status' | 'currency' | 'captured_at' | 'source'> & {
  amount: string
  day: string
  settlement_id: string | null
}

/** What to show of a payment that only its gateway's statement has; undefined if it has none, or an event reported it. */
export async function statedOnly(
  { db, formats }: Pick<PageContext, 'db' | 'formats'>,
  { gateway, paymentId, kind = 'payment' }: PaymentName,
): Promise<Html | undefined> {
  const { rows } = await sql<Stated>`
    select lender, status, amount::text as amount, currency, captured_at, core.day_of(captured_at)::text as day, source, settlement_id
      from core.current_statement s
     where gateway_payment_id = ${paymentId} and gateway = ${gateway} and ${kind} = 'payment'
       and not exists (select from core.transaction where gateway_payment_id = ${paymentId} and gateway = ${gateway})`.execute(
    db,
  )
  const [stated] = rows
  if (stated === undefined) return undefined
  const { settlement_id: settlement, day, lender } = stated
  const book = new URLSearchParams({ from: day, to: day, lender, gateway })
  return html`<h1>Payment ${paymentId}</h1>
<p class="hint">Only its gateway’s statement has this payment: no event reported it.
<a href="/console/books?${book.toString()}">Its day in the books</a></p>
${facts([
  ['The gateway says', stated.status],
  ['Amount', amount(stated.amount, stated.currency)],
  ['Paid', formats.time(stated.captured_at)],
  ['Lender', lender],
  ['Stated by', stated.source],
  [
    'Settlement',
    settlement === null ? null : html`<a href="${settlementPath(settlement)}">${settlement}</a>`,
  ],
])}`
}
