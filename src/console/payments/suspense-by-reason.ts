import { html } from 'hono/html'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { PaymentFilter } from '../../payments/payment-filter.ts'
import { amount, count, words } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'

type Sum = { reason: string; currency: string | null; payments: number; amount: string | null }

/** What is held back, why and how much it is; each number leads to its rows. */
export async function suspenseByReason(db: Database, filter: PaymentFilter): Promise<Html> {
  if (Object.keys(filter).length > 0) return nothing
  const { rows } = await sql<Sum>`
    select reason, currency, count(*)::integer as payments, sum(amount)::text as amount
      from core.transaction where state = 'suspense'
     group by reason, currency order by 3 desc, 1`.execute(db)
  if (rows.length === 0) return nothing
  return html`<section class="box"><h2>In suspense</h2><dl class="figures">${rows.map(
    row => html`<dt>${words(row.reason)} <small>${amount(row.amount, row.currency)}</small></dt>
<dd><a href="/console/payments?state=suspense&amp;reason=${row.reason}" aria-label="${words(row.reason)}: ${count(row.payments)}">${count(row.payments)}</a></dd>`,
  )}</dl></section>`
}
