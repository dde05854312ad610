import { html } from 'hono/html'
import type { Role } from '../../accounts/account.ts'
import { type Html, nothing } from '../frame/html.ts'

export function sourceForms(deadQueues: string[], sources: string[], role: Role): Html {
  if (role === 'viewer') return nothing
  const option = (one: string) => html`<option value="${one}">${one}</option>`
  const requeue = html`<form method="post" action="/console/sources/redrive"><h3>Requeue failed jobs</h3>
<p>Puts its jobs back into their queue. Fix the cause first.</p>
<label>Queue <select name="queue">${deadQueues.map(option)}</select></label>
<button type="submit" class="secondary">Requeue</button></form>`
  const reread = html`<form method="post" action="/console/sources/reread"><h3>Read events again</h3>
<p>The next batch rereads the events that the source’s base view could not read or did not know.</p>
<label>Source <select name="source">${sources.map(option)}</select></label>
<label>Since <input type="datetime-local" name="since" required></label>
<p><small>In the ledger’s time zone.</small></p>
<button type="submit" class="secondary">Read again</button></form>`
  if (deadQueues.length + sources.length === 0) return nothing
  return html`<h2>Actions</h2><div class="forms">${deadQueues.length === 0 ? nothing : requeue}${sources.length === 0 ? nothing : reread}</div>`
}
