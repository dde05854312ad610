import { html } from 'hono/html'
import { GATEWAYS } from '../../payments/gateways/gateways.ts'
import { REFERENCE_LIMIT } from '../../payments/references/reference-file.ts'
import {
  REFERENCE_KINDS,
  type ReferenceFilter,
} from '../../payments/references/reference-record.ts'
import type { Html } from '../frame/html.ts'
import { words } from '../frame/words.ts'

/** @param chosen what the list is filtered by, which the forms begin with */
export function referenceForms({ loan, gateway, kind }: ReferenceFilter): Html {
  const options = (names: readonly string[], chosen: string | undefined) =>
    names.map(
      name =>
        html`<option value="${name}" ${name === chosen ? 'selected' : ''}>${words(name)}</option>`,
    )
  const of = html`<label>Gateway <select name="gateway">${options(GATEWAYS, gateway)}</select></label>
<label>Kind <select name="kind">${options(REFERENCE_KINDS, kind)}</select></label>
<label>Value <input name="value" required maxlength="200" autocapitalize="none" spellcheck="false"></label>`
  return html`<h2>Actions</h2><div class="forms">
<form method="post" action="/console/references/add"><h3>Register</h3>${of}
<label>Loan <input name="external_loan_id" required maxlength="100" value="${loan ?? ''}" autocapitalize="none" spellcheck="false"></label>
<label>First day <input name="valid_from" placeholder="2026-02-05"></label>
<label>Last day <input name="valid_until" placeholder="2026-12-31"></label>
<label><input type="checkbox" name="replace" value="true"> end another loan’s reference the day before</label>
<p><small>The next batch matches what waits for it.</small></p>
<button type="submit">Register</button></form>
<form method="post" action="/console/references/remove"><h3>Remove</h3>${of}
<p><small>With all its periods. What was posted or decided stays.</small></p>
<button type="submit" class="secondary">Remove</button></form>
<form method="post" action="/console/references/upload" enctype="multipart/form-data" data-upload><h3>Upload a file</h3>
<label>File <input type="file" name="file" accept=".csv,text/csv" required></label>
<p><small>CSV with a header row, at most ${REFERENCE_LIMIT.text}: <a href="/console/references/template.csv" download>template</a>. Valid rows are registered.</small></p>
<progress hidden aria-label="Sent"></progress><p role="status"></p>
<button type="submit">Upload</button></form></div>`
}
