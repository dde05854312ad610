import type { Content } from '../frame/html.ts'
import type { ListColumn } from './list.ts'

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
