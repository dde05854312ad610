import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { toRead } from '../../accounts/access/needs.ts'
import type { App } from '../../http/app.ts'
import { only } from '../../http/fields/schemas.ts'
import { operationCalls } from '../../operations/control/operation-calls.ts'
import { ResolvedAs } from '../../operations/control/resolve.ts'
import { operationWithAttempts } from '../../operations/reading/find-operations.ts'
import { parseTrackingId, TrackingId } from '../../operations/tracking-id.ts'
import { actionsOn } from '../audit/actions-on.ts'
import { answerPage } from '../frame/answer.ts'
import { formRoutes } from '../frame/forms/form-routes.ts'
import { live, liveQuery, refreshLink } from '../frame/live.ts'
import { doneNotice, donePath } from '../frame/notice.ts'
import { operationPath } from '../frame/paths.ts'
import type { PageContext } from '../page-context.ts'
import { attemptsTable } from './attempts-table.ts'
import { operationFacts } from './operation-facts.ts'
import { operationForms } from './operation-forms.ts'

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
