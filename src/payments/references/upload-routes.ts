import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { askerOf } from '../../accounts/actor.ts'
import type { FileType } from '../../csv/file-type.ts'
import { InvalidRow } from '../../csv/invalid-row.ts'
import { describeColumns, template } from '../../csv/template.ts'
import type { Database } from '../../database/database.ts'
import { limitConcurrent } from '../../http/connections.ts'
import { csvDownload } from '../../http/csv-download.ts'
import { acceptFiles, takeFile } from '../../http/multipart.ts'
import { closed } from '../../http/schemas.ts'
import { REFERENCE_LIMIT, referenceFile } from './reference-file.ts'
import { uploadReferences } from './upload-references.ts'

const tags = ['payments']
const TEMPLATE = '/references/template.csv'
const templateSchema = {
  operationId: 'getReferenceTemplate',
  tags,
  summary: 'Returns the header row of a file of references and one example row',
  description: describeColumns(referenceFile),
  produces: ['text/csv'],
  response: { 200: Type.String() },
}
const uploadSchema = {
  operationId: 'uploadReferences',
  tags,
  summary: 'Registers the references of a CSV file; invalid rows are left out',
  description: describeColumns(referenceFile),
  consumes: ['multipart/form-data'],
  body: Type.Object(
    {
      file: Type.String({
        format: 'binary',
        description: `CSV, at most ${REFERENCE_LIMIT.text}`,
        examples: [template(referenceFile)],
      }),
    },
    { ...closed, title: 'ReferenceUpload' },
  ),
  response: {
    201: Type.Object(
      {
        rows: Type.Integer(),
        valid_rows: Type.Integer(),
        invalid_rows: Type.Integer(),
        errors: Type.Array(InvalidRow, { description: 'the first hundred invalid rows' }),
      },
      { title: 'UploadedReferences' },
    ),
  },
}

type Context = {
  db: Database
  fileTypes: { portfolio: FileType[]; statements: FileType[] }
  limits: { longCalls: number }
}

export function referenceUploadRoutes(context: Context): FastifyPluginAsyncTypebox {
  const { db, fileTypes, limits } = context
  const place = {
    others: [...fileTypes.portfolio, ...fileTypes.statements],
    templateUrl: `/api${TEMPLATE}`,
  }
  const limitLongCalls = limitConcurrent(limits.longCalls, 'uploads are in progress')
  return async app => {
    await app.register(acceptFiles)

    app.get(TEMPLATE, { schema: templateSchema }, async (_, reply) =>
      csvDownload(reply, 'references.csv').send(template(referenceFile)),
    )

    app.post(
      '/references/upload',
      // The body is read as it arrives, so there is nothing to validate before the handler.
      { schema: uploadSchema, onRequest: limitLongCalls, validatorCompiler: () => () => true },
      async (request, reply) => {
        const asker = await askerOf(request)
        const uploaded = await takeFile(request, [], REFERENCE_LIMIT, file =>
          uploadReferences(db, place, file, asker),
        )
        return reply.code(201).send(uploaded)
      },
    )
  }
}
