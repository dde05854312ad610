import { html } from 'hono/html'
import { listOperations, someMatching } from '../../operations/reading/find-operations.ts'
import type { OperationFilter } from '../../operations/reading/operation-filter.ts'
import { bulkForm } from '../bulk/bulk-form.ts'
import { link } from '../frame/html.ts'
import { operationPath, subjectPath } from '../frame/paths.ts'
import { countUpTo, MAX_COUNTED } from '../lists/count.ts'
import {
  column,
  exportOnly,
  idColumn,
  type ListColumn,
  numberColumn,
  timeColumn,
} from '../lists/list.ts'
import { listPage } from '../lists/list-routes.ts'
import { operationFilters } from '../lists/operation-filters.ts'
import type { PageContext } from '../page-context.ts'
import { words } from '../text/words.ts'
import { failuresByReason } from './failures.ts'

type OperationItem = Awaited<ReturnType<typeof listOperations>>['page'][number]

export const operationsPage = listPage<typeof operationFilters, OperationItem>(context => {
  const { db, config } = context
  const inZone = (filter: OperationFilter) => ({ ...filter, time_zone: config.LEDGER_TIMEZONE })
  return {
    path: '/operations',
    title: 'Operations',
    filters: operationFilters,
    cursor: ['bigint'],
    empty:
      'No operation matches. What the LOS submits, and what payments and files become, appears here.',
    columns: operationColumns(context),
    load: query => listOperations(db, { ...query, ...inZone(query) }),
    count: filter => countUpTo(db, someMatching(inZone(filter), MAX_COUNTED + 1)),
    above: filter => failuresByReason(db, inZone(filter)),
    below: filter => bulkForm('operations', filter),
  }
})

/** The API's own format lacks the zone. */
export const utc = (time: string | null) => (time === null ? null : `${time}Z`)

export function statusOf({ status, waiting_for }: Pick<OperationItem, 'status' | 'waiting_for'>) {
  if (status === 'success') return html`<span class="good">success</span>`
  if (status === 'failed') return html`<span class="bad">failed</span>`
  return waiting_for === null
    ? html`processing`
    : html`<span class="wait">waits for ${words(waiting_for)}</span>`
}

function operationColumns({ formats }: PageContext): ListColumn<OperationItem>[] {
  return [
    idColumn('tracking_id', 'Operation', row =>
      link(operationPath(row.tracking_id), row.operation_type),
    ),
    idColumn('external_id', 'Loan or client', row =>
      link(subjectPath(row.operation_type, row.external_id), row.external_id),
    ),
    column('status', 'Status', row => statusOf(row)),
    numberColumn('attempts', 'Attempts'),
    timeColumn(formats, 'next_try_at', 'Next try'),
    idColumn('error_message', 'Error', row => row.error_message ?? row.last_error),
    ...exportOnly('error_code'),
    timeColumn(formats, 'accepted_at', 'Accepted'),
    timeColumn(formats, 'processed_at', 'Ended', row => utc(row.processed_at)),
    ...exportOnly('actor', 'caller', 'address', 'waiting_for', 'last_error'),
  ]
}
