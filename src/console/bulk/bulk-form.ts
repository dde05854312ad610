import { html } from 'hono/html'
import { hiddenFields } from '../frame/forms/hidden-fields.ts'
import { type Html, nothing } from '../frame/html.ts'
import { type About, DECISION_NAMES, DECISIONS } from './decisions.ts'

export function bulkForm(about: About, filter: object): Html {
  const names = DECISION_NAMES.filter(name => DECISIONS[name].about === about)
  return html`<h2>Bulk action</h2><p class="hint">For every row that matches the filter.</p>
<form class="box" action="/console/bulk">
${hiddenFields(Object.entries(filter))}
<label>Decision <select name="decision">${names.map(name => html`<option value="${name}">${DECISIONS[name].label}</option>`)}</select></label>
${about === 'payments' ? html`<label>Note <input name="note" maxlength="1000"></label>` : nothing}
<button type="submit" class="secondary">Count them first</button></form>`
}
