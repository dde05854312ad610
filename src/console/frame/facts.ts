import { html } from 'hono/html'
import { type Content, type Html, nothing } from './html.ts'

export function facts(list: [string, Content][]): Html {
  const known = list.filter(([, value]) => value !== null && value !== '' && value !== nothing)
  return html`<dl class="facts">${known.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}
