import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { ACTS } from '../../config/acts.ts'
import type { Database } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { oneOf, only, optional, titledBody } from '../../http/fields/schemas.ts'
import { Id, Note } from '../../http/fields/text-fields.ts'
import { listAnswer, listQuery, named } from '../../http/lists/list-query.ts'
import { whileAsked } from '../../http/while-asked.ts'
import { askerOf } from '../access/actor.ts'
import { toOperate, toRead } from '../access/needs.ts'
import type { AnyActCall } from './act-call.ts'
import { APPROVAL_STATES, Approval } from './approval-record.ts'
import { approve, turnDown } from './decide.ts'
import { findApproval, findApprovals } from './find-approvals.ts'

const params = Type.Object({ id: Id })
const refusals = ['PERSON_REQUIRED', 'CONFLICT', 'EXPIRED']
const security = [{ internalToken: [], bearer: [] }]
const toDecide = { 'x-refusals': refusals, security, params }
export const approvalFilters = {
  state: Type.Optional(oneOf(APPROVAL_STATES)),
  act: Type.Optional(oneOf(ACTS)),
}
const listSchema = {
  operationId: 'listApprovals',
  summary: 'Lists what was proposed for approval by a second person, newest first',
  querystring: only({ ...approvalFilters, ...listQuery('approvals', 'uuid') }),
  response: listAnswer('approvals', Approval, 'ApprovalList'),
}
const oneSchema = {
  operationId: 'getApproval',
  summary: 'Returns a proposal, what was asked for, and what became of it',
  params,
  response: { 200: Approval },
}
const decisionBody = titledBody('DecideApprovalRequest', { note: optional(Note) })
const ActAnswer = Type.Object({}, { additionalProperties: true, title: 'ActAnswer' })
const approveSchema = {
  ...toDecide,
  operationId: 'approveProposal',
  'x-refusals': [...refusals, 'OWN_PROPOSAL', 'STALE', 'USERNAME_TAKEN', 'PRECONDITION_FAILED'],
  summary: 'Does what somebody else proposed, and answers as the call itself does',
  description: 'The status and the body are those of the call that was proposed.',
  body: decisionBody,
  response: { 200: ActAnswer, 201: ActAnswer, 202: ActAnswer, 204: Type.Null() },
}
const rejectSchema = {
  ...toDecide,
  operationId: 'rejectApproval',
  summary: 'Ends a proposal; nothing is done',
  body: decisionBody,
  response: { 200: Approval },
}
const withdrawSchema = {
  ...toDecide,
  operationId: 'withdrawApproval',
  summary: 'Takes back one’s own proposal',
  response: { 200: Approval },
}

type Context = { db: Database; forReads: Database; calls: AnyActCall[] }

export function approvalRoutes(app: App, context: Context): void {
  const { db, forReads } = context
  app.get('/approvals', toRead(listSchema), async ({ query }) =>
    named('approvals', await findApprovals(forReads, query)),
  )

  app.get('/approvals/:id', toRead(oneSchema), request => findApproval(forReads, request.params.id))

  app.post('/approvals/:id/approve', toOperate(approveSchema), async (request, reply) => {
    const decision = { ...decisionOf(request), signal: whileAsked(reply) }
    const { status, body } = await approve(context, decision)
    return reply.code(status as 200).send(body as object)
  })

  for (const [path, schema, state] of [
    ['/approvals/:id/reject', rejectSchema, 'rejected'],
    ['/approvals/:id/withdraw', withdrawSchema, 'withdrawn'],
  ] as const)
    app.post(path, toOperate(schema), async request => {
      await turnDown(db, state, decisionOf(request))
      return findApproval(db, request.params.id)
    })
}

function decisionOf(request: FastifyRequest) {
  const { id } = request.params as { id: string }
  const { note } = (request.body ?? {}) as { note?: string }
  return { id, note, asker: askerOf(request), tokenRole: request.tokenRole }
}
