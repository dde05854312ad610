import type { Static, TObject, TProperties } from '@sinclair/typebox'
import type { FoundPage, Shape } from '../../http/lists/cursor.ts'
import type { PageRange } from '../../http/lists/page-of-view.ts'
import { amount, type Formats } from '../frame/formats.ts'
import { type Content, link, linked } from '../frame/html.ts'
import { loanPath, paymentPath } from '../frame/paths.ts'

export type ListColumn<Row> = {
  name: string
  title: string
  cell?(row: Row): Content
  isNumber?: boolean
  /** The header or text of an export, where the page's differs. */
  exported?: { name: string; text(row: Row): string }
  /** The column is too long for a page, or already shown in another column. */
  isExportOnly?: boolean
  isId?: boolean
}

export type Filter<Filters extends TProperties> = Static<TObject<Filters>>

export type List<Filters extends TProperties, Row> = {
  path: string
  /** The role that a reader of the list needs; absent where everybody may read it. */
  needs?: 'accounts'
  title: string
  filters: Filters
  /** The filter as its fields show it, where people type it otherwise than it is sent on. */
  typed?(filter: Filter<Filters>): object
  cursor: readonly Shape[]
  columns: ListColumn<Row>[]
  /** The text of an empty list: what will appear here. */
  empty: string
  load(query: Filter<Filters> & PageRange): Promise<FoundPage<Row>>
  /** For an export, where a row's place in the list may change: there it would be missed, or come twice. */
  loadInFixedOrder?(query: Filter<Filters> & PageRange): Promise<FoundPage<Row>>
  /** The number of matches, capped; null if counting takes too long. */
  count?(filter: Filter<Filters>): Promise<number | null>
  above?(filter: Filter<Filters>): Content | Promise<Content>
  /** Forms: viewers do not get them. */
  below?(filter: Filter<Filters>): Content
}

type Cell<Row> = (row: Row) => Content

export const column = <Row>(name: string, title: string, cell?: Cell<Row>): ListColumn<Row> => ({
  name,
  title,
  ...(cell && { cell }),
})

export const idColumn = <Row>(name: string, title: string, cell?: Cell<Row>): ListColumn<Row> => ({
  ...column(name, title, cell),
  isId: true,
})

export const numberColumn = <Row>(
  name: string,
  title: string,
  cell?: Cell<Row>,
): ListColumn<Row> => ({ ...column(name, title, cell), isNumber: true })

/** Columns that are too long for a page, or already shown in another column. */
export const exportOnly = (...names: string[]) =>
  names.map(name => ({ ...column<object>(name, name), isExportOnly: true }))

type Time = Date | string | null

/** A column of times in the ledger's time zone, which an export names in its header. */
export function timeColumn<Row extends object>(
  { time, text, timeZone }: Formats,
  name: string,
  title: string,
  read = (row: Row) => (row as Record<string, unknown>)[name] as Time,
): ListColumn<Row> {
  return {
    name,
    title,
    cell: row => time(read(row)),
    exported: { name: `${name} (${timeZone})`, text: row => text(read(row)) },
  }
}

export const paymentColumn: ListColumn<Parameters<typeof paymentPath>[0]> = idColumn(
  'gateway_payment_id',
  'Payment',
  row => link(paymentPath(row), row.gateway_payment_id),
)

export const amountColumn: ListColumn<{ amount: string | null; currency: string | null }> =
  numberColumn('amount', 'Amount', row => amount(row.amount, row.currency))

export const loanColumn: ListColumn<{ external_loan_id: string | null }> = idColumn(
  'external_loan_id',
  'Loan',
  row => linked(row.external_loan_id, loanPath),
)
