import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { onRequestAsyncHookHandler } from 'fastify'
import { askerOf } from '../../accounts/actor.ts'
import type { Databases } from '../../database/database.ts'
import { findMigration } from '../find-migration.ts'
import { type Kinds, kinds as known } from '../kinds/kinds.ts'
import { MigrationTypeName, ofOneMigration, Uploaded } from '../record.ts'
import { backgroundDeletion } from './background-deletion.ts'
import { discard } from './discard.ts'
import { firstErrors } from './first-errors.ts'
import { describeColumns, template } from './template.ts'
import { upload } from './upload.ts'
import { takeUpload } from './upload-request.ts'

const tags = ['migration']
const description = [
  'The part `type` comes before the part `file`, which is read as it arrives.',
  ...known.map(describeColumns),
].join('\n\n')
const uploadSchema = {
  operationId: 'uploadMigration',
  tags,
  summary: 'Uploads a CSV file and checks every row; writes nothing to the ledger',
  description,
  consumes: ['multipart/form-data'],
  body: Type.Object({
    type: MigrationTypeName,
    file: Type.String({
      format: 'binary',
      description: 'CSV, at most 1 GiB',
      examples: [known.map(template)[0] ?? ''],
    }),
  }),
  response: { 201: Uploaded },
}
const discardSchema = {
  operationId: 'discardMigration',
  'x-refusals': ['CONFLICT'],
  tags,
  summary: 'Discards a file and its rows, if no row has been started',
  params: ofOneMigration,
  response: { 204: Type.Null() },
}
export function uploadRoutes(
  databases: Databases,
  kinds: Kinds,
  limitLongCalls: onRequestAsyncHookHandler,
): FastifyPluginAsyncTypebox {
  const { db } = databases
  return async app => {
    const deletion = backgroundDeletion(db, app.log)
    app.addHook('onClose', deletion.stop)

    app.post(
      '/migration/upload',
      // The body is read part by part as it arrives, so there is nothing to validate before the handler.
      { schema: uploadSchema, onRequest: limitLongCalls, validatorCompiler: () => () => true },
      async (request, reply) => {
        const asker = await askerOf(request)
        const id = await takeUpload(request, kinds, (kind, file) =>
          upload(databases, kind, file, asker),
        )
        const record = await findMigration(db, id)
        return reply.code(201).send({ ...record, errors: await firstErrors(db, id) })
      },
    )

    app.delete('/migration/:id', { schema: discardSchema }, async (request, reply) => {
      const { id } = request.params
      await discard(db, id, await askerOf(request))
      deletion.add(id)
      return reply.code(204).send(null)
    })
  }
}
