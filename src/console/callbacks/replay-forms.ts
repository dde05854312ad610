import { html } from 'hono/html'
import { CALLBACK_STATES } from '../../callbacks/callback-record.ts'
import type { CallbackFilter } from '../../callbacks/find-callbacks.ts'
import { CALLBACK_TYPES } from '../../config/settings/callback-settings.ts'
import type { Formats } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'

export function replayForms(
  formats: Formats,
  { state = 'failed', type, from, to }: CallbackFilter,
): Html {
  const local = (time?: string) => formats.text(time).replace(' ', 'T')
  const option = (one: string, chosen: string | undefined) =>
    html`<option value="${one}" ${one === chosen ? html`selected` : nothing}>${one}</option>`
  return html`<h2>Actions</h2><div class="forms">
<form action="/console/callbacks/replay"><h3>Replay</h3>
<label>From <input type="datetime-local" step="1" name="from" required value="${local(from)}"></label>
<label>To <input type="datetime-local" step="1" name="to" required value="${local(to)}"></label>
<p><small>In the ledger’s time zone.</small></p>
<label>State <select name="state">${CALLBACK_STATES.map(one => option(one, state))}</select></label>
<label>Type <select name="type"><option value="">any</option>${CALLBACK_TYPES.map(one => option(one, type))}</select></label>
<button type="submit" class="secondary">Count</button></form>
<form method="post" action="/console/callbacks/resume"><h3>Resume after 410</h3>
<p>Start sending callbacks again.</p>
<button type="submit" class="secondary">Resume callbacks</button></form>
</div>`
}
