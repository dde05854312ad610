import { html } from 'hono/html'

export type Html = ReturnType<typeof html>
/** A value that a template takes: text is escaped; null prints nothing. */
export type Content = Html | string | number | null

export const nothing: Html = html``

export const link = (path: string, text: Content): Html => html`<a href="${path}">${text}</a>`

/** @param pathOf the page of what has this id */
export const linked = (id: string | null, pathOf: (id: string) => string): Html | null =>
  id === null ? null : link(pathOf(id), id)

export function facts(list: [string, Content][]): Html {
  const known = list.filter(([, value]) => value !== null && value !== '' && value !== nothing)
  return html`<dl class="facts">${known.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}
