import { html } from 'hono/html'
import type { Role } from '../../accounts/account.ts'
import { RESOLVABLE } from '../../engine/operation.ts'
import { type Html, nothing } from '../frame/html.ts'
import { operationPath } from '../frame/paths.ts'
import type { ShownOperation } from './operation-facts.ts'

export function operationForms(operation: ShownOperation, role: Role): Html {
  const { status, tracking_id, attempts, waiting_for } = operation
  if (status !== 'processing' || role === 'viewer') return nothing
  const path = operationPath(tracking_id)
  const canResolve = RESOLVABLE.includes(waiting_for ?? '')
  const canCancel = attempts.length === 0
  if (!canResolve && !canCancel) return nothing
  return html`<h2>Actions</h2><div class="forms">
${canResolve ? resolveForm(path) : nothing}
${canCancel ? cancelForm(path) : nothing}
</div>`
}

function resolveForm(path: string): Html {
  return html`<form method="post" action="${path}/resolve">
<h3>Resolve</h3>
<label>Outcome <select name="outcome">
<option value="retry">retry: try again</option>
<option value="failed">failed: give it up</option>
</select></label>
<p><small>The ledger is read first, and what it holds takes precedence: if the operation already took effect, it succeeds and is not repeated.</small></p>
<button type="submit">Resolve</button>
</form>`
}

function cancelForm(path: string): Html {
  return html`<form method="post" action="${path}/cancel">
<h3>Cancel</h3>
<p>The operation has never been attempted. Once cancelled, it is permanently <code>failed</code>.</p>
<button type="submit" class="secondary">Cancel operation</button>
</form>`
}
