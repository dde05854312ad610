import type { Static } from '@sinclair/typebox'
import { html } from 'hono/html'
import { sql } from 'kysely'
import { read } from '../../accounts/access/needs.ts'
import type { App } from '../../http/app.ts'
import type { Payment } from '../../payments/payment-record.ts'
import { answerPage } from '../frame/answer.ts'
import { amountColumn, column, idColumn, paymentColumn, timeColumn } from '../lists/list.ts'
import { table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'
import { words } from '../text/words.ts'

const MAX_SHOWN = 50

type Named = Pick<
  Static<typeof Payment>,
  'gateway' | 'gateway_payment_id' | 'kind' | 'amount' | 'currency'
>
type Held = Named & { reason: string; since: Date; note: string | null; noted_by: string | null }

export function suspensePage(app: App, { db, formats }: PageContext): void {
  const columns = [
    paymentColumn,
    timeColumn(formats, 'since', 'Since'),
    column('reason', 'Reason', (row: Held) => words(row.reason)),
    amountColumn,
    idColumn('note', 'Note'),
    column('noted_by', 'By'),
  ]
  app.get('/suspense', { config: read }, async (request, reply) => {
    const { rows } = await sql<Held>`
        select gateway, gateway_payment_id, kind, reason, amount::text as amount, currency, suspended_at as since, note, noted_by
          from core.transaction where state = 'suspense'
         order by suspended_at limit ${MAX_SHOWN}`.execute(db)
    const body = html`<h1>Longest in suspense</h1>
<p>The ${MAX_SHOWN} that have waited longest. <a href="/console/payments?state=suspense">All of them</a></p>
${rows.length === 0 ? html`<p class="hint">Nothing is in suspense. Payments that cannot be posted as they are appear here.</p>` : table(columns, rows, 'Longest in suspense')}`
    return answerPage(request, reply, { title: 'Longest in suspense', body })
  })
}
