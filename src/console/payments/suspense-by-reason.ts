import { html } from 'hono/html'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { PaymentFilter } from '../../payments/reading/payment-filter.ts'
import { amount, count } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { words } from '../text/words.ts'

type Sum = {
  reason: string
  payments: number
  sums: { currency: string | null; amount: string | null }[]
}

export async function suspenseByReason(db: Database, filter: PaymentFilter): Promise<Html> {
  if (Object.keys(filter).length > 0) return nothing
  const { rows } = await sql<Sum>`
    select reason, sum(payments)::integer as payments,
           json_agg(json_build_object('currency', currency, 'amount', amount::text) order by currency) as sums
      from (select reason, currency, count(*) as payments, sum(amount) as amount
              from core.transaction where state = 'suspense' group by reason, currency) held
     group by reason order by 2 desc, 1`.execute(db)
  if (rows.length === 0) return nothing
  return html`<section class="box"><h2>In suspense</h2><dl class="figures">${rows.map(
    row => html`<dt>${words(row.reason)} <small>${row.sums.map(one => amount(one.amount, one.currency)).join(', ')}</small></dt>
<dd><a href="/console/payments?state=suspense&amp;reason=${row.reason}" aria-label="${words(row.reason)}: ${count(row.payments)}">${count(row.payments)}</a></dd>`,
  )}</dl><p><a href="/console/suspense">Longest in suspense</a></p></section>`
}
