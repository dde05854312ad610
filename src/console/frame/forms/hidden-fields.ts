import { html } from 'hono/html'
import type { Html } from '../html.ts'

export function hiddenFields(values: [name: string, value: unknown][]): Html {
  return html`${values.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`
}
