import type { RawBuilder } from 'kysely'
import type { Column } from '../../csv/column.ts'
import type { Fields } from '../../csv/fields.ts'
import type { NewOperation } from '../../engine/accept.ts'
import type { Catalogue, Operation } from '../../engine/operation.ts'
import type { Found, Looker, RowToLookAt } from './looker.ts'

/** The errors of one row, and the values that rules across rows compare. A valid row names its loan. */
export type CheckedRow = {
  errors: string[]
  loanExternalId?: string | null | undefined
  clientExternalId?: string | null | undefined
  clientFields?: (string | null)[] | undefined
  paymentKey?: string | null | undefined
  receiptNumber?: string | null | undefined
  onDate?: string | null | undefined
  disbursedOn?: string | null | undefined
}

/** A rule across the rows of a migration: a query that returns the line and the message of each violation. */
export type Rule = (id: string) => RawBuilder<unknown>

export type RowReader = {
  check(fields: Fields): CheckedRow
  /** The operations that a valid row needs, in order. */
  steps(fields: Fields): NewOperation[]
}

export type Kind = {
  type: string
  columns: Column[]
  /** Whether a file with this header is of this kind, which is how `migrate-portfolio` tells files apart. */
  isHeader(columns: string[]): boolean
  /** The types that this one depends on: they run first, and never at the same time on the same loan. */
  buildsOn: string[]
  rules: Rule[]
  /** The operations that only its rows can create: callers cannot request them. */
  operations: Operation[]
  /** Called once per process, because it compiles the schemas of the operations. */
  reader(catalogue: Catalogue): RowReader
  /** Predicts what a run would do with the valid rows of one loan, by reads alone. */
  look(looker: Looker, rows: RowToLookAt[], loan: string): Promise<Found[]>
}
