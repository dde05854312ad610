import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { onRequestAsyncHookHandler } from 'fastify'
import { askerOf } from '../../accounts/actor.ts'
import { auditAlone } from '../../accounts/audit.ts'
import type { Databases } from '../../database/database.ts'
import { findLayout, findMigration } from '../find-migration.ts'
import { type Kinds, kindOf, kinds as known } from '../kinds/kinds.ts'
import { MigrationTypeName, ofOneMigration, Uploaded } from '../record.ts'
import { backgroundDeletion } from './background-deletion.ts'
import { discard } from './discard.ts'
import { errorsCsv } from './errors-csv.ts'
import { firstErrors } from './first-errors.ts'
import { describeColumns, template } from './template.ts'
import { upload } from './upload.ts'
import { takeUpload } from './upload-request.ts'

const CSV = 'text/csv; charset=utf-8'
const tags = ['migration']
const description = known.map(describeColumns).join('\n\n')
const templateSchema = {
  tags,
  summary: 'Returns the header row of a file and one example row',
  description,
  params: Type.Object({ type: MigrationTypeName }),
  produces: ['text/csv'],
  response: { 200: Type.String() },
}
const uploadSchema = {
  tags,
  summary: 'Uploads a CSV file and checks every row; writes nothing to the ledger',
  description,
  consumes: ['multipart/form-data'],
  body: Type.Object({
    type: MigrationTypeName,
    file: Type.String({ format: 'binary', description: 'CSV, at most 1 GiB' }),
  }),
  response: { 201: Uploaded },
}
const discardSchema = {
  tags,
  summary: 'Discards a file and its rows, if no row has been started',
  params: ofOneMigration,
  response: { 204: Type.Null() },
}
const errorsSchema = {
  tags,
  summary: 'Downloads the rows that are invalid, failed or were stopped, each with its reason',
  params: ofOneMigration,
  produces: ['text/csv'],
  response: { 200: Type.Unsafe<Readable>(Type.String()) },
}

/** Uploads and downloads. @param forDownloads a pool of its own, so that downloads do not wait for uploads */
export function uploadRoutes(
  databases: Databases,
  forDownloads: Databases['patient'],
  kinds: Kinds,
  limitLongCalls: onRequestAsyncHookHandler,
): FastifyPluginAsyncTypebox {
  const { db } = databases
  return async app => {
    const deletion = backgroundDeletion(db, app.log)
    app.addHook('onClose', deletion.stop)

    app.get(
      '/migration/templates/:type.csv',
      { schema: templateSchema },
      async (request, reply) => {
        const { type } = request.params
        return reply
          .type(CSV)
          .header('content-disposition', `attachment; filename="${type}.csv"`)
          .send(template(kindOf(kinds.values(), type)))
      },
    )

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

    app.get(
      '/migration/:id/errors.csv',
      { schema: errorsSchema, onRequest: limitLongCalls },
      async (request, reply) => {
        const layout = await findLayout(db, request.params.id)
        const asker = await askerOf(request)
        await auditAlone(db, {
          ...asker,
          action: 'migration.download',
          subject: layout.id,
          detail: { file: 'errors.csv' },
        })
        return reply
          .type(CSV)
          .header('content-disposition', 'attachment; filename="errors.csv"')
          .send(Readable.from(errorsCsv(forDownloads, layout)))
      },
    )
  }
}
