import { html } from 'hono/html'
import type { Role } from '../../accounts/account.ts'
import { type Html, nothing } from '../frame/html.ts'
import type { State } from './state.ts'

export function ledgerForms({ pause }: State, role: Role): Html {
  if (role === 'viewer') return nothing
  return html`<h2>Actions</h2><div class="forms">
${
  pause === null
    ? nothing
    : html`<form method="post" action="/console/resume"><h3>Resume writes to the ledger</h3>
<p>Whatever waits continues within a few seconds.</p><button type="submit">Resume</button></form>`
}
<form method="post" action="/console/pause"><h3>${pause === null ? 'Pause writes to the ledger' : 'Change the pause'}</h3>
<label>Reason <input name="reason" required maxlength="1000" value="${pause?.reason ?? ''}"></label>
<label>Until <input name="until" type="datetime-local"></label>
<p><small>In the ledger’s time zone; empty: until somebody resumes. Intake, webhooks and reads continue.</small></p>
<button type="submit" class="secondary">Pause</button></form>
<form method="post" action="/console/batch"><h3>Post payments now</h3>
<p>Reads new events and posts what can be posted, without waiting for the next half hour.</p>
<button type="submit" class="secondary">Start a batch</button></form>
</div>`
}
