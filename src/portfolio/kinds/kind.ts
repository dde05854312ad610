import type { RawBuilder } from 'kysely'
import type { OwnKind } from '../../csv/column.ts'
import type { CsvFields } from '../../csv/fields.ts'
import type { Database } from '../../database/database.ts'
import type { NewOperation } from '../../engine/accept.ts'
import type { Catalogue, Operation } from '../../engine/operation.ts'
import type { Looker, RowFinding, RowToLookAt } from './looker.ts'

export type CheckedRow = {
  errors: string[]
  /** The loan by which the row is run and looked up; undefined only in a row with errors. */
  loanExternalId: string | null | undefined
  clientExternalId?: string | null | undefined
  clientFields?: (string | null)[] | undefined
  paymentKey?: string | null | undefined
  receiptNumber?: string | null | undefined
  onDate?: string | null | undefined
  disbursedOn?: string | null | undefined
}

/** A query that returns the line and the message of each violation across the rows of a migration. */
export type Rule = (id: string) => RawBuilder<unknown>

export type RowReader = {
  check(fields: CsvFields): CheckedRow
  steps(fields: CsvFields): NewOperation[]
}

export type RowKind = OwnKind & {
  isHeader(columns: string[]): boolean
  /** The types that this one depends on: they run first, and never at the same time on the same loan. */
  buildsOn: string[]
  rules: Rule[]
  /** Only rows can create these operations, not callers. */
  operations?(db: Database): Operation[]
  /** The reader is made once per process, because it compiles the schemas of the operations. */
  reader(catalogue: Catalogue): RowReader
  look(looker: Looker, rows: RowToLookAt[], loan: string): Promise<RowFinding[]>
}
