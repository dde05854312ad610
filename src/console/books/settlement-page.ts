import { type Static, Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { sql } from 'kysely'
import { toRead } from '../../accounts/access/needs.ts'
import { settlementsNamed } from '../../books/settlements/find-settlements.ts'
import type { Settlement } from '../../books/settlements/settlement-record.ts'
import type { Row } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { WITHOUT_NUL } from '../../http/fields/text-fields.ts'
import { NotFound } from '../../http/problem.ts'
import { isZero } from '../../payments/gateways/items/shape.ts'
import { answerPage } from '../frame/answer.ts'
import { amount, count, type Formats } from '../frame/formats.ts'
import { facts, type Html } from '../frame/html.ts'
import { amountColumn, column, type ListColumn, paymentColumn } from '../lists/list.ts'
import { firstOf, table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'
import { words } from '../text/words.ts'

const schema = {
  params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200, pattern: WITHOUT_NUL }) }),
}
const columns: ListColumn<Part>[] = [
  paymentColumn,
  amountColumn,
  column('gateway', 'Gateway', row => words(row.gateway)),
]
const MAX_ROWS_SHOWN = 500

type Part = Row<'core.statement', 'gateway' | 'gateway_payment_id' | 'amount'> & {
  currency: string | null
  kind: 'payment'
}

export function settlementPage(app: App, { db, formats }: PageContext): void {
  app.get('/settlements/:id', toRead(schema), async (request, reply) => {
    const { id } = request.params
    const settlements = await settlementsNamed(db, id)
    if (settlements.length === 0) throw new NotFound(`No settlement ${id}`)
    const { rows: parts } = await sql<Part>`
        select gateway, gateway_payment_id, 'payment' as kind, amount::text as amount, currency
          from (select gateway, gateway_payment_id, amount, currency, captured_at from core.current_statement
                 where settlement_id = ${id}
                union all
                -- A payment that only the settlement lists may never have been fetched itself.
                select r.gateway, r.id, r.amount, s.currency, s.captured_at
                  from core.current_settlement_row r
                  left join core.current_statement s on s.gateway_payment_id = r.id and s.gateway = r.gateway
                 where r.settlement_id = ${id} and r.kind = 'payment' and s.settlement_id is null) part
         order by captured_at, gateway_payment_id limit ${MAX_ROWS_SHOWN + 1}`.execute(db)
    const { shown, rest } = firstOf(parts, MAX_ROWS_SHOWN)
    const body = html`<h1>Settlement ${id}</h1>
${settlements.map(one => settlementFacts(one, currencyOf(parts, one.gateway), formats))}
${parts.length === 0 ? '' : html`<h2>Its payments</h2>${table(columns, shown, 'Its payments')}${rest}`}`
    return answerPage(request, reply, { title: `Settlement ${id}`, body })
  })
}

/** The currency of all of its payments that are known; null if they have several. */
function currencyOf(parts: Part[], gateway: string): string | null {
  const ofGateway = parts.filter(part => part.gateway === gateway && part.currency !== null)
  const [currency = null, ...others] = new Set(ofGateway.map(part => part.currency))
  return others.length === 0 ? currency : null
}

function settlementFacts(
  row: Static<typeof Settlement>,
  currency: string | null,
  formats: Formats,
): Html {
  const sum = (value: string | null) => amount(value, currency)
  return facts([
    ['Gateway', words(row.gateway)],
    ['Lender', row.lender],
    ['Settled', formats.time(row.settled_at)],
    ['UTR', row.utr],
    ['Payments', count(row.payments)],
    ['Gross', sum(row.gross)],
    ['Fees', sum(row.fees)],
    ['Tax', sum(row.tax)],
    ['Refunds', sum(row.refunds)],
    ['Net', sum(row.net)],
    ['Adjustments', sum(row.adjustments)],
    ['Paid out', sum(row.paid_out)],
    ['Adds up', addsUp(row, sum)],
  ])
}

type InWords = (value: string | null) => string

function addsUp({ adds_up, off_by }: Static<typeof Settlement>, sum: InWords): string {
  if (adds_up === true) return 'yes, to the paisa'
  if (off_by === null) return 'no: a part is not known, or it has several currencies'
  // Its payments may differ by amounts that cancel each other out.
  if (isZero(off_by)) return 'no: it has payments with other amounts than were reported before'
  return `no, it is off by ${sum(off_by)}`
}
