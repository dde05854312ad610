import { OptionalKind, type TProperties, type TSchema } from '@sinclair/typebox'
import { html } from 'hono/html'
import { capitalised } from '../../text/capitalised.ts'
import { type Html, nothing } from '../frame/html.ts'
import { words } from '../text/words.ts'

type Values = Record<string, unknown>

export function filterForm(path: string, filters: TProperties, values: Values): Html {
  return html`<form class="filters" action="${path}" aria-label="Filters">
${formFields(filters, values)}
<button type="submit" class="secondary">Filter</button>
</form>`
}

type Labels = Record<string, string>

/**
 * A field for each value that these schemas check; a required text is an id.
 * @param labels for fields whose label is not the name in words
 */
export function formFields(schemas: TProperties, values: Values, labels: Labels = {}): Html[] {
  return Object.entries(schemas).map(([name, schema]) => {
    const label = labels[name] ?? capitalised(words(name))
    return field({ name, label, schema, value: values[name] })
  })
}

type Field = { name: string; label: string; schema: TSchema; value: unknown }

function field({ name, label, schema, value }: Field): Html {
  const text = typeof value === 'string' ? value : ''
  const isOptional = OptionalKind in schema
  const example = schema.examples ? html`placeholder="${schema.examples[0]}"` : nothing
  const ofId = html`required maxlength="${schema.maxLength}" autocapitalize="none" spellcheck="false"`
  return html`<label>${label}${
    schema.enum === undefined
      ? html`<input name="${name}" value="${text}" ${example} ${schema.format === 'date' ? html`type="date"` : nothing} ${isOptional ? nothing : ofId}>`
      : html`<select name="${name}">${isOptional ? html`<option value="">any</option>` : nothing}${(schema.enum as string[]).map(option)}</select>`
  }</label>`

  function option(one: string): Html {
    const chosen = one === text ? html`selected` : nothing
    return html`<option value="${one}" ${chosen}>${words(one)}</option>`
  }
}
