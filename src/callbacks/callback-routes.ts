import { Type } from '@sinclair/typebox'
import { askerOf } from '../accounts/access/actor.ts'
import { toOperate, toRead } from '../accounts/access/needs.ts'
import { actRoutes } from '../accounts/approvals/act-routes.ts'
import { orProposal } from '../accounts/approvals/approval-record.ts'
import type { ForApprovals } from '../accounts/approvals/perform.ts'
import type { Database } from '../database/database.ts'
import type { App } from '../http/app.ts'
import { Time } from '../http/fields/day-fields.ts'
import { nullable, only, optional, titled, titledBody } from '../http/fields/schemas.ts'
import { Id } from '../http/fields/text-fields.ts'
import { listAnswer, listQuery, named } from '../http/lists/list-query.ts'
import { CallbackItem, CallbackWithAttempts, callbackFilters } from './callback-record.ts'
import { findCallback, listCallbacks } from './find-callbacks.ts'
import { replayCall } from './replay-call.ts'
import { resendCallback, resumeCallbacks } from './replay-callbacks.ts'

const params = Type.Object({ id: Id })
const { state, type } = CallbackItem.properties

const listSchema = {
  operationId: 'listCallbacks',
  summary: 'Lists callbacks, newest first',
  querystring: only({ ...callbackFilters, ...listQuery('callbacks', 'bigint') }),
  response: listAnswer('callbacks', CallbackItem, 'CallbackList'),
}
const itemSchema = {
  operationId: 'getCallback',
  summary: 'Returns a callback with its body and its last hundred attempts',
  params,
  response: { 200: CallbackWithAttempts },
}
const resendSchema = {
  operationId: 'resendCallback',
  summary: 'Sends a callback again under the same id, even if it was delivered',
  params,
  response: { 202: CallbackItem },
}
const replaySchema = {
  operationId: 'replayCallbacks',
  summary: 'Replays the callbacks of a period; without a state, those that failed',
  body: titledBody('ReplayCallbacksRequest', {
    from: Time,
    to: Time,
    state: optional(state),
    type: optional(type),
    dry_run: optional(Type.Boolean({ description: 'true or false' })),
  }),
  response: {
    202: orProposal(
      titled('ReplayedCallbacks', {
        callbacks: Type.Integer(),
        next_from: nullable({
          ...Time,
          description: 'the `from` to continue with; null if all are sent again',
        }),
      }),
    ),
  },
}
const resumeSchema = {
  operationId: 'resumeCallbacks',
  summary: 'Resumes callbacks after the receiver responded with 410',
  response: { 202: titled('ResumedCallbacks', {}) },
}

type Context = ForApprovals & { forReads: Database }

export function callbackRoutes(app: App, context: Context): void {
  const { db, forReads } = context
  app.get('/callbacks', toRead(listSchema), async ({ query }) =>
    named('callbacks', await listCallbacks(forReads, query)),
  )

  app.get('/callbacks/:id', toRead(itemSchema), request =>
    findCallback(forReads, request.params.id),
  )

  app.post('/callbacks/:id/resend', toOperate(resendSchema), async (request, reply) => {
    const { id } = request.params
    await resendCallback(db, id, askerOf(request))
    const { body, attempts, ...item } = await findCallback(db, id)
    return reply.code(202).send({ ...item, attempts: attempts.at(-1)?.attempt ?? 0 })
  })

  actRoutes(app, context).post('/callbacks/replay', replaySchema, replayCall)

  app.post('/callbacks/resume', toOperate(resumeSchema), async (request, reply) => {
    await resumeCallbacks(db, askerOf(request))
    return reply.code(202).send({})
  })
}
