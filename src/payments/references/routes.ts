import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { askerOf } from '../../accounts/actor.ts'
import type { Database } from '../../database/database.ts'
import { IsoDay } from '../../http/day-fields.ts'
import { listQuery } from '../../http/list-query.ts'
import { closed, nullable, oneOf, optional } from '../../http/schemas.ts'
import { ExternalId } from '../../http/text-fields.ts'
import { GATEWAYS } from '../gateways/gateways.ts'
import { deleteReference } from './delete-reference.ts'
import { findReferences } from './find-references.ts'
import { putReference } from './put-reference.ts'
import { REFERENCE_KINDS, Reference, ReferenceParams } from './reference-record.ts'

const tags = ['payments']
const flag = Type.Optional(oneOf(['true', 'false']))
const Put = Type.Object(
  {
    ...Reference.properties,
    waiting: Type.Integer({
      description: 'how many payments in suspense as no_loan_named it releases, at most 1,000',
    }),
  },
  { title: 'ReferencePut' },
)
const putSchema = {
  operationId: 'putReference',
  'x-refusals': ['CONFLICT'],
  tags,
  summary: 'Says which loan payments with this id belong to, from the next batch on',
  params: ReferenceParams,
  querystring: Type.Object({ replace: flag, dry_run: flag }, closed),
  body: Type.Object(
    { external_loan_id: ExternalId, valid_from: optional(IsoDay), valid_until: optional(IsoDay) },
    { ...closed, title: 'PutReferenceRequest' },
  ),
  response: { 200: Put, 201: Put },
}
export const referenceFilters = {
  loan: Type.Optional(ExternalId),
  gateway: Type.Optional(oneOf(GATEWAYS)),
  kind: Type.Optional(oneOf(REFERENCE_KINDS)),
}
const listSchema = {
  operationId: 'listReferences',
  tags,
  summary: 'Lists references, newest first',
  querystring: Type.Object({ ...referenceFilters, ...listQuery('uuid') }, closed),
  response: {
    200: Type.Object(
      { references: Type.Array(Reference), next_cursor: nullable(Type.String()) },
      { title: 'ReferenceList' },
    ),
  },
}
const deleteSchema = {
  operationId: 'deleteReference',
  tags,
  summary: 'Removes all periods of a value; what was posted or decided stays',
  params: ReferenceParams,
  response: { 204: Type.Null() },
}

export function referenceRoutes({ db }: { db: Database }): FastifyPluginAsyncTypebox {
  return async app => {
    app.put('/references/:gateway/:kind/:value', { schema: putSchema }, async (request, reply) => {
      const { replace, dry_run } = request.query
      const how = { replace: replace === 'true', dryRun: dry_run === 'true' }
      const reference = { ...request.params, ...request.body }
      const { isNew, stored } = await putReference(db, reference, await askerOf(request), how)
      return reply.code(isNew ? 201 : 200).send(stored)
    })

    app.get('/references', { schema: listSchema }, request => findReferences(db, request.query))

    app.delete(
      '/references/:gateway/:kind/:value',
      { schema: deleteSchema },
      async (request, reply) => {
        await deleteReference(db, request.params, await askerOf(request))
        return reply.code(204).send(null)
      },
    )
  }
}
