import { html } from 'hono/html'
import { MAX_BACKFILL_DAYS } from '../../books/backfill/request-backfill-now.ts'
import type { Config } from '../../config/config.ts'
import type { Html } from '../frame/html.ts'

export function gatewayForms({ gateways, lenders }: Config): Html {
  const choice = html`<label>Gateway <select name="gateway">${gateways.map(({ name }) => html`<option value="${name}">${name}</option>`)}</select></label>`
  const codes = [...lenders.keys()].map(code => html`<option value="${code}">${code}</option>`)
  return html`<h2>Actions</h2><div class="forms">
<form method="post" action="/console/backfills"><h3>Fetch from a gateway</h3>${choice}
<label>Lender <select name="lender"><option value="">the gateway’s own account</option>${codes}</select></label>
<label>From <input type="datetime-local" name="from" required></label>
<label>To <input type="datetime-local" name="to" required></label>
<p><small>In the ledger’s time zone, at most ${MAX_BACKFILL_DAYS} days. Stores what webhooks missed.</small></p>
<button type="submit" class="secondary">Fetch</button></form>
<form method="post" action="/console/statements" enctype="multipart/form-data" data-upload><h3>Upload a gateway’s report</h3>${choice}
<label>Lender <select name="lender">${codes}</select></label>
<label>File <input type="file" name="file" accept=".csv,text/csv" required></label>
<p><small>Each day of its valid rows then counts as complete, and a day with a refused row as partial. <a href="/console/statements/template.csv" download>Template</a> <a href="/console/books/statements">Uploaded reports</a></small></p>
<progress hidden aria-label="Sent"></progress><p role="status"></p>
<button type="submit" class="secondary">Upload</button></form>
</div>`
}
