import { Type } from '@sinclair/typebox'
import { actRoutes } from '../../accounts/approvals/act-routes.ts'
import { orProposal, Proposal } from '../../accounts/approvals/approval-record.ts'
import type { ForApprovals } from '../../accounts/approvals/perform.ts'
import { itemAnswer } from '../../http/answer-each.ts'
import type { App } from '../../http/app.ts'
import { titled, titledBody } from '../../http/fields/schemas.ts'
import { TAKE } from '../../http/fields/take-values.ts'
import { WITHOUT_NUL } from '../../http/fields/text-fields.ts'
import { operationWithAttempts } from '../reading/find-operations.ts'
import { OperateResponse, OperationWithAttempts } from '../reading/operation-record.ts'
import { parseTrackingId, TRACKING_REFUSALS, TrackingId, withSmallUuid } from '../tracking-id.ts'
import { operationCalls } from './operation-calls.ts'
import { ResolvedAs } from './resolve.ts'

const MAX_RESOLUTIONS = 200

const params = Type.Object({ tracking_id: TrackingId })
const wholeSchema = {
  operationId: 'getOperation',
  'x-refusals': TRACKING_REFUSALS,
  summary: 'Returns an operation with its data, its attempts and the operation that it waits for',
  params,
  response: { 200: OperationWithAttempts },
}
const resolveSchema = {
  operationId: 'resolveOperation',
  'x-refusals': [...TRACKING_REFUSALS, 'CONFLICT'],
  summary: 'Resolves a stuck operation: retries it, or marks it as failed',
  params,
  body: titledBody('ResolveOperationRequest', { outcome: ResolvedAs }),
  response: { 202: orProposal(OperateResponse) },
}
const resolveEachSchema = {
  operationId: 'resolveOperations',
  summary: 'Resolves several stuck operations, each as in a call of its own, in order',
  body: titledBody('ResolveOperationsRequest', {
    tracking_ids: Type.Array(
      Type.String({
        [TAKE]: withSmallUuid,
        pattern: WITHOUT_NUL,
        description: 'a tracking id',
        examples: TrackingId.examples,
      }),
      {
        minItems: 1,
        maxItems: MAX_RESOLUTIONS,
        description: `a list of 1 to ${MAX_RESOLUTIONS} tracking ids`,
      },
    ),
    outcome: ResolvedAs,
  }),
  response: {
    200: titled('OperationResults', {
      results: Type.Array(titled('OperationResult', { tracking_id: Type.String(), ...itemAnswer })),
    }),
    202: Proposal,
  },
}
const cancelSchema = {
  operationId: 'cancelOperation',
  'x-refusals': [...TRACKING_REFUSALS, 'CONFLICT'],
  summary: 'Cancels an operation that was never attempted; it ends as failed',
  params,
  response: {
    202: orProposal(
      titled('CancelledOperation', { tracking_id: Type.String(), status: Type.Literal('failed') }),
    ),
  },
}

type Context = Parameters<typeof operationCalls>[0] & ForApprovals

export function operationControlRoutes(app: App, context: Context): void {
  const { db } = context
  const { resolveCall, resolveEachCall, cancelCall } = operationCalls(context)

  const act = actRoutes(app, context)
  app.get(
    '/ledger/operations/:tracking_id',
    { schema: wholeSchema, config: { needs: 'any' } },
    request => operationWithAttempts(db, parseTrackingId(request.params.tracking_id)),
  )

  act.post('/ledger/operations/:tracking_id/resolve', resolveSchema, resolveCall)

  act.post('/ledger/operations/resolve', resolveEachSchema, resolveEachCall)

  act.post('/ledger/operations/:tracking_id/cancel', cancelSchema, cancelCall)
}
