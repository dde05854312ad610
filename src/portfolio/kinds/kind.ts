import type { NewOperation } from '../../engine/accept.ts'
import type { Column } from '../upload/column.ts'

export const MIGRATION_TYPES = ['loans', 'repayments'] as const
export type MigrationType = (typeof MIGRATION_TYPES)[number]

/** The filled cells of one row, by column. */
export type Fields = Record<string, string>

/** What the rules within one row say, and what those across rows compare. */
export type CheckedRow = {
  errors: string[]
  loanExternalId: string | null
  clientExternalId: string | null
  clientFields: (string | null)[] | null
  paymentKey: string | null
  receiptNumber: string | null
  onDate: string | null
  disbursedOn: string | null
}

/** One kind of CSV file. */
export type Kind = {
  type: MigrationType
  columns: Column[]
  check(fields: Fields): CheckedRow
  /** What has to be done at the ledger for a valid row, in this order. */
  steps(fields: Fields): NewOperation[]
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
