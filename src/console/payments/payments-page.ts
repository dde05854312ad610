import { html } from 'hono/html'
import { findPayments } from '../../payments/reading/find-payments.ts'
import { bulkForm } from '../bulk/bulk-form.ts'
import type { Html } from '../frame/html.ts'
import { column, exportOnly } from '../lists/columns.ts'
import { countUpTo } from '../lists/count.ts'
import type { ListColumn } from '../lists/list.ts'
import { listPage } from '../lists/list-routes.ts'
import { amountColumn, loanColumn, paymentColumn } from '../lists/payment-columns.ts'
import { paymentFilters } from '../lists/payment-filters.ts'
import { timeColumn } from '../lists/time-column.ts'
import type { PageContext } from '../page-context.ts'
import { words } from '../text/words.ts'
import { somePayments } from './some-payments.ts'
import { suspenseByReason } from './suspense-by-reason.ts'
import { suspenseFirst } from './suspense-first.ts'

export type PaymentItem = Awaited<ReturnType<typeof findPayments>>['page'][number]

export const paymentsPage = listPage<typeof paymentFilters, PaymentItem>(context => {
  const { db, config } = context
  const zone = config.LEDGER_TIMEZONE
  return {
    path: '/payments',
    title: 'Payments',
    filters: paymentFilters,
    cursor: ['name', 'uuid'],
    empty: 'No payment matches. What the gateways report appears here.',
    columns: paymentColumns(context),
    load: query => suspenseFirst(query, one => findPayments(db, one, zone)),
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
