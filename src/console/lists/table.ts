import { html } from 'hono/html'
import { count } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import type { ListColumn } from './list.ts'

/** On a narrow screen, each row becomes a block with the titles beside its values. */
export function table<Row extends object>(
  all: ListColumn<Row>[],
  rows: Row[],
  caption: string,
): Html {
  const columns = all.filter(({ isExportOnly }) => !isExportOnly)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table class="list">
<thead><tr>${columns.map(({ title, isNumber }) => html`<th scope="col" ${kind(isNumber)}>${title}</th>`)}</tr></thead>
<tbody>${rows.map(row => html`<tr>${columns.map(column => cell(column, row))}</tr>`)}</tbody>
</table></div>`
}

function cell<Row extends object>(
  { name, title, isNumber, isId, ...column }: ListColumn<Row>,
  row: Row,
) {
  const content = column.cell === undefined ? cellText(row, name) : column.cell(row)
  return html`<td data-title="${title}" ${isId ? html`class="id"` : kind(isNumber)}>${content}</td>`
}

export function cellText(row: object, name: string): string {
  const value: unknown = (row as Record<string, unknown>)[name]
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const kind = (isNumber = false) => (isNumber ? html`class="number"` : nothing)

/** The first `max` rows, with a hint if there are more: read one row more than `max`. */
export function firstOf<Row>(rows: Row[], max: number): { shown: Row[]; rest: Html } {
  const rest =
    rows.length > max ? html`<p class="hint">Only the first ${count(max)} are shown.</p>` : nothing
  return { shown: rows.slice(0, max), rest }
}
