import { html } from 'hono/html'
import { REFERENCE_LIMIT } from '../../payments/references/reference-file.ts'
import {
  NewReference,
  type ReferenceFilter,
  ReferenceParams,
} from '../../payments/references/reference-record.ts'
import type { Html } from '../frame/html.ts'
import { formFields } from '../lists/filter-form.ts'

const LABELS = { external_loan_id: 'Loan', valid_from: 'First day', valid_until: 'Last day' }

/** @param filter of the list, with whose values the forms begin */
export function referenceForms({ loan, ...filter }: ReferenceFilter): Html {
  const values = { ...filter, external_loan_id: loan }
  return html`<h2>Actions</h2><div class="forms">
<form method="post" action="/console/references/add"><h3>Register</h3>${formFields(NewReference.properties, values, LABELS)}
<label><input type="checkbox" name="replace" value="true"> end another loan’s reference the day before</label>
<p><small>The next batch matches what waits for it.</small></p>
<button type="submit">Register</button></form>
<form method="post" action="/console/references/remove"><h3>Remove</h3>${formFields(ReferenceParams.properties, values)}
<p><small>With all its periods. What was posted or decided stays.</small></p>
<button type="submit" class="secondary">Remove</button></form>
<form method="post" action="/console/references/upload" enctype="multipart/form-data" data-upload><h3>Upload a file</h3>
<label>File <input type="file" name="file" accept=".csv,text/csv" required></label>
<p><small>CSV with a header row, at most ${REFERENCE_LIMIT.text}: <a href="/console/references/template.csv" download>template</a>. Valid rows are registered.</small></p>
<progress hidden aria-label="Sent"></progress><p role="status"></p>
<button type="submit">Upload</button></form></div>`
}
