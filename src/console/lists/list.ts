import type { Static, TObject, TProperties } from '@sinclair/typebox'
import type { FoundPage, Shape } from '../../http/lists/cursor.ts'
import type { PageRange } from '../../http/lists/page-of-view.ts'
import type { Content } from '../frame/html.ts'

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
  /** The number of matches, capped; null if counting takes too long. */
  count?(filter: Filter<Filters>): Promise<number | null>
  above?(filter: Filter<Filters>): Content | Promise<Content>
  /** Forms: viewers do not get them. */
  below?(filter: Filter<Filters>): Content
}
