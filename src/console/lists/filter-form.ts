import type { TProperties, TSchema } from '@sinclair/typebox'
import { html } from 'hono/html'
import { type Html, nothing } from '../frame/html.ts'
import { words } from '../frame/words.ts'

export function filterForm(
  path: string,
  filters: TProperties,
  values: Record<string, unknown>,
): Html {
  return html`<form class="filters" action="${path}" aria-label="Filters">
${Object.entries(filters).map(([name, schema]) => field(name, schema, values[name]))}
<button type="submit" class="secondary">Filter</button>
</form>`
}

function field(name: string, schema: TSchema, value: unknown): Html {
  const text = typeof value === 'string' ? value : ''
  return html`<label>${capital(words(name))}${
    schema.enum === undefined
      ? html`<input name="${name}" value="${text}" ${schema.format === 'date' ? html`type="date"` : nothing}>`
      : html`<select name="${name}"><option value="">any</option>${(schema.enum as string[]).map(option)}</select>`
  }</label>`

  function option(one: string): Html {
    const chosen = one === text ? html`selected` : nothing
    return html`<option value="${one}" ${chosen}>${words(one)}</option>`
  }
}

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
