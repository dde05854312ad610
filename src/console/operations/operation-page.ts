import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { toRead } from '../../accounts/access/needs.ts'
import type { Role } from '../../accounts/account.ts'
import { RESOLVABLE } from '../../engine/operation.ts'
import type { App } from '../../http/app.ts'
import { only } from '../../http/fields/schemas.ts'
import { operationCalls } from '../../operations/control/operation-calls.ts'
import { ResolvedAs } from '../../operations/control/resolve.ts'
import { operationWithAttempts } from '../../operations/reading/find-operations.ts'
import { parseTrackingId, TrackingId } from '../../operations/tracking-id.ts'
import { actionsOn } from '../audit/actions-on.ts'
import { answerPage } from '../frame/answer.ts'
import { formRoutes } from '../frame/forms/form-routes.ts'
import { type Html, nothing } from '../frame/html.ts'
import { live, liveQuery, refreshLink } from '../frame/live.ts'
import { doneNotice, donePath } from '../frame/notice.ts'
import { operationPath } from '../frame/paths.ts'
import type { PageContext } from '../page-context.ts'
import { attemptsTable } from './attempts-table.ts'
import { operationFacts, type ShownOperation } from './operation-facts.ts'

const params = Type.Object({ tracking_id: TrackingId })
const pageSchema = { params, querystring: only(liveQuery) }
const resolveSchema = { params, body: only({ outcome: ResolvedAs }) }

export function operationPage(app: App, context: PageContext): void {
  const { db, formats } = context
  const { resolveCall, cancelCall } = operationCalls(context)
  app.get('/operations/:tracking_id', toRead(pageSchema), async (request, reply) => {
    const { tracking_id } = request.params
    const operation = await operationWithAttempts(db, parseTrackingId(tracking_id))
    const body = html`<h1>${operation.operation_type} ${operation.external_id}</h1>
${doneNotice(request.query.done)}
${live(
  request.url,
  request.query,
  html`${operationFacts(operation, formats)}
<p class="bar">${refreshLink(request.url)}</p>
${operation.attempts.length === 0 ? noAttempts(operation) : attemptsTable(operation.attempts, formats)}
${actionsOn(db, tracking_id, formats)}`,
)}
${operationForms(operation, request.user.role)}`
    return answerPage(request, reply, { title: tracking_id, body })
  })

  const form = formRoutes(app, context)
  form('/operations/:tracking_id/resolve', resolveSchema, resolveCall, {
    done: ({ params }) => donePath(operationPath(params.tracking_id), 'resolved'),
  })
  form('/operations/:tracking_id/cancel', { params }, cancelCall, {
    done: ({ params }) => donePath(operationPath(params.tracking_id), 'cancelled'),
  })
}

/** Attempts of an operation that has ended are deleted after a while. */
const noAttempts = ({ status }: { status: string }) =>
  html`<p class="hint">${status === 'processing' ? 'Nothing has been tried at the ledger yet.' : 'No attempts at the ledger are on record.'}</p>`

function operationForms(operation: ShownOperation, role: Role): Html {
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
