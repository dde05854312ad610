import type { Static, TObject, TProperties } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Shape } from '../../http/cursor.ts'
import type { Content } from '../frame/html.ts'

export type Column<Row> = {
  /** As the API and the export call it. */
  name: string
  title: string
  /** By default the value of that name. */
  cell?(row: Row): Content
  isNumber?: boolean
  /** Too much for a page, or shown there by another column. */
  isExportOnly?: boolean
  /** A long text, which may break anywhere. */
  isId?: boolean
}

export type Filter<Filters extends TProperties> = Static<TObject<Filters>>
export type Range = { limit: number; cursor?: string }
export type Found<Row> = { rows: Row[]; next_cursor: string | null }

export type List<Filters extends TProperties, Row> = {
  /** Below /console. */
  path: string
  title: string
  /** In the order in which they are shown. */
  filters: Filters
  /** The types of the values that the rows are sorted by. */
  cursor: Shape[]
  columns: Column<Row>[]
  /** For an empty list: what appears here. */
  empty: string
  load(query: Filter<Filters> & Range): Promise<Found<Row>>
  /** How many rows match, at most one more than are worth counting; null where that takes too long. */
  count?(filter: Filter<Filters>): Promise<number | null>
  /** What stands above the rows; read with them, once for everybody who looks. */
  above?(filter: Filter<Filters>): Content | Promise<Content>
  /** What stands below the rows. */
  below?(filter: Filter<Filters>, request: FastifyRequest, count: number | null): Content
}
