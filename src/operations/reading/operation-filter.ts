import { type RawBuilder, sql } from 'kysely'
import { equalTo } from '../../database/equal-to.ts'
import { WAITING_FOR } from '../../engine/operation.ts'
import type { Origin } from '../../engine/origin.ts'

export const WAITING_REASONS = ['predecessor', 'client', 'paused', ...WAITING_FOR] as const
/** What an operation that is under way waits for, or one that is about to start. */
export const NOTHING = 'nothing'

/** The only operation types payments produce. */
const PAYMENT_OPERATIONS = ['REPAYMENT', 'REPAYMENT_REVERSAL']

export type OperationFilter = {
  origin?: Origin
  external_id?: string
  status?: string
  operation_type?: string
  waiting_for?: string
  error_code?: string
  failed_on?: string
  time_zone?: string
}

export const wantsUnfinished = ({ status, waiting_for }: OperationFilter) =>
  status === 'processing' || waiting_for !== undefined

export const wantsFailed = ({ status, error_code, failed_on }: OperationFilter) =>
  status === 'failed' || error_code !== undefined || failed_on !== undefined

/** Whether only the failures-by-type index serves the filter. */
export const wantsFailedOfType = (filter: OperationFilter) =>
  wantsFailed(filter) &&
  filter.operation_type !== undefined &&
  [filter.error_code, filter.failed_on, filter.external_id].every(other => other === undefined)

/**
 * The order, newest first. `+ 0` keeps PostgreSQL off the full-table index; the type, which serves the
 * failures-by-type index, is compared as an array because a constant would not count as part of an order.
 */
export function orderOf(filter: OperationFilter): RawBuilder<unknown> {
  if (filter.origin !== 'api' && wantsUnfinished(filter)) return sql`o.seq + 0`
  return wantsFailedOfType(filter) ? sql`o.operation_type desc, o.seq` : sql`o.seq`
}

/** The condition refers to `loanops.operation` as `o`. */
export function matchingOperations(filter: OperationFilter): RawBuilder<unknown> {
  const { origin, status, external_id, operation_type, waiting_for, error_code, failed_on } = filter
  const where = [equalTo({ 'o.external_id': external_id })]
  // The statuses are literals, for the partial indexes.
  const isOfFew = wantsUnfinished(filter) || wantsFailed(filter)
  if (origin !== undefined)
    where.push(
      origin !== 'api' && isOfFew
        ? sql`o.origin || '' = ${origin}`
        : sql`o.origin = ${sql.lit(origin)}`,
    )
  if (status !== undefined) where.push(inStatus(status))
  if (operation_type !== undefined)
    where.push(
      wantsFailedOfType(filter)
        ? sql`o.operation_type = any(${[operation_type]})`
        : sql`o.operation_type = ${operation_type}`,
    )
  // This is known before any row is read.
  if (operation_type !== undefined && origin !== undefined)
    where.push(sql.lit(PAYMENT_OPERATIONS.includes(operation_type) === (origin === 'payment')))
  if (waiting_for !== undefined)
    where.push(sql`o.status = 'processing' and ${mayWaitFor(waiting_for)} and (
      select coalesce(v.waiting_for, ${sql.lit(NOTHING)}) from loanops.operation_state v where v.id = o.id) = ${waiting_for}`)
  if (error_code !== undefined)
    where.push(sql`o.status = 'failed' and loanops.error_code(o.response) = ${error_code}`)
  if (failed_on !== undefined) {
    const start = (days: number) =>
      sql`core.start_of(${failed_on}::date + ${sql.lit(days)}, ${filter.time_zone ?? 'UTC'})`
    where.push(
      sql`o.status = 'failed' and o.processed_at >= ${start(0)} and o.processed_at < ${start(1)}`,
    )
  }
  return sql.join(where, sql` and `)
}

/** Without statistics, PostgreSQL thinks every status is rare, but nearly all rows succeeded. */
function inStatus(status: string): RawBuilder<unknown> {
  return status === 'success'
    ? sql`o.status not in ('processing', 'failed')`
    : sql`o.status = ${sql.lit(status)}`
}

/** A cheap necessary condition, checked before the view's expensive one. */
function mayWaitFor(reason: string): RawBuilder<unknown> {
  switch (reason) {
    case NOTHING:
      return sql`o.unknown_since is null and o.waiting_for is null`
    case 'outcome_unknown':
      return sql`o.unknown_since is not null`
    case 'paused':
      return sql`exists (select from ops.ledger_pause)`
    case 'predecessor':
      // Without the offset, it would become a join, after the view's expensive conditions.
      return sql`exists (select from loanops.operation earlier
                          where earlier.subject = o.subject and earlier.status = 'processing' and earlier.seq < o.seq
                         offset 0)`
    case 'client':
      return sql`o.waits_for is not null`
    default:
      return sql`o.waiting_for = ${sql.lit(reason)}`
  }
}
