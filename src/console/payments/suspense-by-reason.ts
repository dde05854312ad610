import { html } from 'hono/html'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { PaymentKind } from '../../payments/payment-record.ts'
import type { PaymentFilter } from '../../payments/reading/payment-filter.ts'
import { amount, count } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { words } from '../text/words.ts'

type Sum = {
  reason: string
  payments: number
  sums: { kind: PaymentKind; currency: string | null; amount: string | null }[]
}

/** What is refunded or disputed is no money that is held: its payment may be posted. */
const inWords = ({ kind, currency, amount: sum }: Sum['sums'][number]) =>
  `${kind === 'payment' ? '' : `${kind}s of `}${amount(sum, currency)}`

export async function suspenseByReason(db: Database, filter: PaymentFilter): Promise<Html> {
  if (Object.keys(filter).length > 0) return nothing
  const { rows } = await sql<Sum>`
    select reason, sum(payments)::integer as payments,
           json_agg(json_build_object('kind', kind, 'currency', currency, 'amount', amount::text)
             order by kind = 'payment' desc, kind, currency) as sums
      from (select reason, kind, currency, count(*) as payments, sum(amount) as amount
              from core.transaction where state = 'suspense' group by reason, kind, currency) held
     group by reason order by 2 desc, 1`.execute(db)
  if (rows.length === 0) return nothing
  return html`<section class="box"><h2>In suspense</h2><dl class="figures">${rows.map(
    row => html`<dt>${words(row.reason)} <small>${row.sums
      .filter(one => one.amount !== null)
      .map(inWords)
      .join(', ')}</small></dt>
<dd><a href="/console/payments?state=suspense&amp;reason=${row.reason}" aria-label="${words(row.reason)}: ${count(row.payments)}">${count(row.payments)}</a></dd>`,
  )}</dl><p><a href="/console/suspense">Longest in suspense</a></p></section>`
}
