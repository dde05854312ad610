import { type RawBuilder, sql } from 'kysely'
import type { Origin } from '../engine/origin.ts'

export const WAITING_REASONS = [
  'predecessor',
  'client',
  'paused',
  'ledger_unavailable',
  'ledger_busy',
  'ledger_credentials',
  'ledger_approval',
  'outcome_unknown',
] as const

/** The only one that payments become. */
const OF_PAYMENTS = 'REPAYMENT'

/** By what operations are listed. */
export type OperationFilter = {
  origin?: Origin
  external_id?: string
  status?: string
  operation_type?: string
  waiting_for?: string
  error_code?: string
  /** A day, by the clock of `time_zone`. */
  failed_on?: string
  time_zone?: string
}

/** A condition on the rows of `loanops.operation o`. */
export function matching(filter: OperationFilter): RawBuilder<unknown> {
  const { origin, status, external_id, operation_type, waiting_for, error_code, failed_on } = filter
  const where: RawBuilder<unknown>[] = [sql`true`]
  // Literals, so that PostgreSQL sees which partial index holds them.
  if (origin !== undefined) where.push(sql`o.origin = ${sql.lit(origin)}`)
  if (status !== undefined) where.push(sql`o.status = ${sql.lit(status)}`)
  if (external_id !== undefined) where.push(sql`o.external_id = ${external_id}`)
  if (operation_type !== undefined) where.push(sql`o.operation_type = ${operation_type}`)
  // Known before any row is read.
  if (operation_type !== undefined && origin === 'payment')
    where.push(sql.lit(operation_type === OF_PAYMENTS) as RawBuilder<unknown>)
  if (waiting_for !== undefined)
    where.push(sql`o.status = 'processing' and (
      select v.waiting_for from loanops.operation_state v where v.seq = o.seq) = ${waiting_for}`)
  if (error_code !== undefined)
    where.push(sql`o.status = 'failed' and coalesce(o.response #>> '{errors,0,userMessageGlobalisationCode}',
      o.response ->> 'userMessageGlobalisationCode') = ${error_code}`)
  if (failed_on !== undefined) {
    const start = (days: number) =>
      sql`(${failed_on}::date + ${sql.lit(days)})::timestamp at time zone ${filter.time_zone ?? 'UTC'}`
    where.push(
      sql`o.status = 'failed' and o.processed_at >= ${start(0)} and o.processed_at < ${start(1)}`,
    )
  }
  return sql.join(where, sql` and `)
}
