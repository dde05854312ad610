import type { RawBuilder } from 'kysely'
import type { NewOperation } from '../../engine/accept.ts'
import type { Catalogue, Operation } from '../../engine/operation.ts'
import type { Column } from './column.ts'
import type { Found, Looker, RowToLookAt } from './looker.ts'

/** The filled cells of one row, by column. */
export type Fields = Record<string, string>

/** What the rules within one row say, and what those across rows compare. A valid row names its loan. */
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

/** A rule across rows: a query for the line and the sentence of each breach in the migration of this id. */
export type Rule = (id: string) => RawBuilder<unknown>

/** What becomes of one row. */
export type RowReader = {
  check(fields: Fields): CheckedRow
  /** What has to be done at the ledger for a valid row, in this order. */
  steps(fields: Fields): NewOperation[]
}

/** One kind of CSV file. */
export type Kind = {
  type: string
  columns: Column[]
  /** Whether a file with this header is of this kind: how `migrate-portfolio` tells files apart. */
  isHeader(columns: string[]): boolean
  /** The types that bring what this one's rows build on: theirs run first, and never beside these on the same loan. */
  buildsOn: string[]
  rules: Rule[]
  /** What its rows become that callers cannot ask for. */
  operations: Operation[]
  /** Once per process: compiles what the operations demand. */
  reader(catalogue: Catalogue): RowReader
  /** What a run would do with the valid rows of one loan; only reads. */
  look(looker: Looker, rows: RowToLookAt[], loan: string): Promise<Found[]>
}

/** @param columns the header of the file, in its order */
export function fieldsOf(columns: string[], cells: string[]): Fields {
  const fields: Fields = {}
  for (let i = 0; i < columns.length; i++) {
    const cell = cells[i]?.trim()
    if (cell) fields[columns[i] as string] = cell
  }
  return fields
}
