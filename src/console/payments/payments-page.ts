import { html } from 'hono/html'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { decodeCursor } from '../../http/lists/cursor.ts'
import type { PaymentKind } from '../../payments/payment-record.ts'
import { findPayments, type PaymentQuery } from '../../payments/reading/find-payments.ts'
import type { PaymentFilter } from '../../payments/reading/payment-filter.ts'
import { bulkForm } from '../bulk/bulk-form.ts'
import { amount, count } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { countUpTo } from '../lists/count.ts'
import {
  amountColumn,
  column,
  exportOnly,
  type ListColumn,
  loanColumn,
  paymentColumn,
  timeColumn,
} from '../lists/list.ts'
import { listPage } from '../lists/list-routes.ts'
import { paymentFilters } from '../lists/payment-filters.ts'
import type { PageContext } from '../page-context.ts'
import { words } from '../text/words.ts'
import { somePayments } from './some-payments.ts'

export type PaymentItem = Awaited<ReturnType<typeof findPayments>>['page'][number]

export const paymentsPage = listPage<typeof paymentFilters, PaymentItem>(context => {
  const { db, config } = context
  const zone = config.LEDGER_TIMEZONE
  const find = (query: PaymentQuery) => findPayments(db, query, zone)
  return {
    path: '/payments',
    title: 'Payments',
    filters: paymentFilters,
    cursor: ['name', 'uuid'],
    empty: 'No payment matches. What the gateways report appears here.',
    columns: paymentColumns(context),
    load: query => suspenseFirst(query, find),
    loadInFixedOrder: find,
    count: filter => countUpTo(db, somePayments(filter, zone)),
    above: async filter =>
      html`${await suspenseByReason(db, filter)}<p><a href="/console/references">References</a>: which loan a virtual account, mandate or link belongs to</p>`,
    below: filter => bulkForm('payments', filter),
  }
})

export function paymentState({
  state,
  reason,
  objection,
  waiting_for,
}: Pick<PaymentItem, 'state' | 'reason' | 'objection' | 'waiting_for'>): Html {
  const why = objection ?? reason ?? waiting_for
  const look =
    state === 'suspense' || objection !== null ? 'bad' : state === 'posted' ? 'good' : 'wait'
  return html`<span class="${look}">${state}${why === null ? '' : `: ${words(why)}`}</span>`
}

function paymentColumns({ formats }: PageContext): ListColumn<PaymentItem>[] {
  return [
    paymentColumn,
    column('state', 'State', paymentState),
    amountColumn,
    loanColumn,
    column('lender', 'Lender'),
    column('gateway', 'Gateway', row => words(row.gateway)),
    column('kind', 'Kind'),
    timeColumn(formats, 'paid_at', 'Paid'),
    timeColumn(formats, 'posted_at', 'Posted'),
    ...exportOnly(
      'currency',
      'reason',
      'objection',
      'waiting_for',
      'verified',
      'ledger_transaction_id',
      'of_payment_id',
      'returned_amount',
      'detail',
      'raw_table',
      'raw_id',
    ),
    ...['next_try_at', 'received_at'].map(name => ({
      ...timeColumn<PaymentItem>(formats, name, name),
      isExportOnly: true,
    })),
  ]
}

type Sum = {
  reason: string
  payments: number
  sums: { kind: PaymentKind; currency: string | null; amount: string | null }[]
}

/** What is refunded or disputed is no money that is held: its payment may be posted. */
const inWords = ({ kind, currency, amount: sum }: Sum['sums'][number]) =>
  `${kind === 'payment' ? '' : `${kind}s of `}${amount(sum, currency)}`

async function suspenseByReason(db: Database, filter: PaymentFilter): Promise<Html> {
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

type Found = Awaited<ReturnType<typeof findPayments>>
type Find = (query: PaymentQuery) => Promise<Found>

/** Payments, suspense first, because somebody must decide about it. The cursor says in which part the next page begins. */
async function suspenseFirst({ cursor, ...query }: PaymentQuery, find: Find) {
  const [part, last] = decodeCursor(cursor, ['name', 'uuid'])
  const after = last === undefined || last === FROM_THE_START ? {} : { cursor: last }
  // A filter by state leaves only one of the two.
  if (query.state !== undefined) return inPart('rest', await find({ ...query, ...after }))
  if (part === 'rest')
    return inPart('rest', await find({ ...query, ...after, isOutsideSuspense: true }))
  const suspended = await find({ ...query, ...after, state: 'suspense' })
  if (suspended.next_cursor !== null) return inPart('suspense', suspended)
  const limit = query.limit - suspended.page.length
  const rest = await find({ ...query, limit: Math.max(limit, 1), isOutsideSuspense: true })
  // If no room is left, the next page begins with the rest.
  if (limit === 0)
    return {
      page: suspended.page,
      next_cursor: rest.page.length > 0 ? `rest.${FROM_THE_START}` : null,
    }
  const { page, next_cursor } = inPart('rest', rest)
  return { page: [...suspended.page, ...page], next_cursor }
}

/** A cursor with this id begins at the start of its part. */
const FROM_THE_START = 'ffffffff-ffff-7fff-bfff-ffffffffffff'

function inPart(part: string, { page, next_cursor }: Found) {
  return { page, next_cursor: next_cursor === null ? null : `${part}.${next_cursor}` }
}
