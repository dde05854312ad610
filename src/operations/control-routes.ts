import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { PgBoss } from 'pg-boss'
import { askerOf } from '../accounts/actor.ts'
import type { Database } from '../database/database.ts'
import type { OnFinal } from '../engine/finish.ts'
import { answerEach, itemAnswer } from '../http/answer-each.ts'
import { closed } from '../http/schemas.ts'
import { WITHOUT_NUL } from '../http/text-fields.ts'
import { cancelOperation } from './cancel.ts'
import { operationWithAttempts } from './find-operations.ts'
import { OperateResponse, OperationWithAttempts } from './operation-record.ts'
import { ResolvedAs, resolveOperation } from './resolve.ts'
import { parseTrackingId, TRACKING_REFUSALS, TrackingId } from './tracking-id.ts'

const MAX_RESOLUTIONS = 200

const tags = ['operations']
const params = Type.Object({ tracking_id: TrackingId })
const wholeSchema = {
  operationId: 'getOperation',
  'x-refusals': TRACKING_REFUSALS,
  tags,
  summary: 'Returns an operation with its data, its attempts and the operation that it waits for',
  params,
  response: { 200: OperationWithAttempts },
}
const resolveSchema = {
  operationId: 'resolveOperation',
  'x-refusals': [...TRACKING_REFUSALS, 'CONFLICT'],
  tags,
  summary: 'Resolves a stuck operation: retries it, or marks it as failed',
  params,
  body: Type.Object({ outcome: ResolvedAs }, { ...closed, title: 'ResolveOperationRequest' }),
  response: { 202: OperateResponse },
}
const resolveEachSchema = {
  operationId: 'resolveOperations',
  tags,
  summary: 'Resolves several stuck operations, each as in a call of its own, in order',
  body: Type.Object(
    {
      tracking_ids: Type.Array(
        Type.String({
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
    },
    { ...closed, title: 'ResolveOperationsRequest' },
  ),
  response: {
    200: Type.Object(
      {
        results: Type.Array(
          Type.Object({ tracking_id: Type.String(), ...itemAnswer }, { title: 'OperationResult' }),
        ),
      },
      { title: 'OperationResults' },
    ),
  },
}
const cancelSchema = {
  operationId: 'cancelOperation',
  'x-refusals': [...TRACKING_REFUSALS, 'CONFLICT'],
  tags,
  summary: 'Cancels an operation that was never attempted; it ends as failed',
  params,
  response: {
    202: Type.Object(
      { tracking_id: Type.String(), status: Type.Literal('failed') },
      { title: 'CancelledOperation' },
    ),
  },
}

type Context = { db: Database; boss: PgBoss; onFinal: OnFinal }

export function operationControlRoutes(context: Context): FastifyPluginAsyncTypebox {
  const { db, boss, onFinal } = context

  return async app => {
    app.get('/ledger/operations/:tracking_id', { schema: wholeSchema }, request =>
      operationWithAttempts(db, parseTrackingId(request.params.tracking_id)),
    )

    app.post(
      '/ledger/operations/:tracking_id/resolve',
      { schema: resolveSchema },
      async (request, reply) => {
        const { tracking_id } = request.params
        const asker = await askerOf(request)
        await resolveOperation(db, boss, parseTrackingId(tracking_id), request.body.outcome, asker)
        return reply.code(202).send({ tracking_id, status: 'processing' })
      },
    )

    app.post('/ledger/operations/resolve', { schema: resolveEachSchema }, async request => {
      const { tracking_ids, outcome } = request.body
      const asker = await askerOf(request)
      const answers = await answerEach(request, tracking_ids, 202, async one =>
        resolveOperation(db, boss, parseTrackingId(one), outcome, asker),
      )
      const results = tracking_ids.map((tracking_id, i) => ({
        tracking_id,
        ...(answers[i] as (typeof answers)[number]),
      }))
      return { results }
    })

    app.post(
      '/ledger/operations/:tracking_id/cancel',
      { schema: cancelSchema },
      async (request, reply) => {
        const { tracking_id } = request.params
        const asker = await askerOf(request)
        await cancelOperation({ db, boss, onFinal }, parseTrackingId(tracking_id), asker)
        return reply.code(202).send({ tracking_id, status: 'failed' })
      },
    )
  }
}
