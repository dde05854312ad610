import { Type } from '@sinclair/typebox'
import { operate, toRead } from '../../accounts/access/needs.ts'
import { actRoutes } from '../../accounts/approvals/act-routes.ts'
import { Proposal } from '../../accounts/approvals/approval-record.ts'
import type { ForApprovals } from '../../accounts/approvals/perform.ts'
import { fileSchema, rowCounts, templateSchema } from '../../csv/file-schemas.ts'
import type { FileType } from '../../csv/reading/file-type.ts'
import { template } from '../../csv/template.ts'
import type { Database } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { acceptFiles } from '../../http/body/multipart.ts'
import { limitConcurrent } from '../../http/connections/connections.ts'
import { csvDownload } from '../../http/csv-download.ts'
import { only, titled, titledBody } from '../../http/fields/schemas.ts'
import { listAnswer, listQuery, named } from '../../http/lists/list-query.ts'
import { findReferences } from './find-references.ts'
import { deleteCall, putCall } from './reference-calls.ts'
import { REFERENCE_LIMIT, referenceFile } from './reference-file.ts'
import { NewReference, Reference, ReferenceFilter, ReferenceParams } from './reference-record.ts'
import { uploadReferences } from './upload-references.ts'

const flag = Type.Optional(Type.Boolean({ description: 'true or false', examples: [false] }))
const How = only({ replace: flag, dry_run: flag })
const Put = titled('ReferencePut', {
  ...Reference.properties,
  waiting: Type.Integer({
    description: 'how many payments in suspense as no_loan_named it releases, at most 1,000',
  }),
})
const { gateway, kind, value, ...newPeriod } = NewReference.properties
const putSchema = {
  operationId: 'putReference',
  'x-refusals': ['CONFLICT'],
  summary: 'Registers which loan payments with this id belong to, from the next batch on',
  params: Type.Object({ gateway, kind, value }),
  querystring: How,
  body: titledBody('PutReferenceRequest', newPeriod),
  response: { 200: Put, 201: Put, 202: Proposal },
}
const listSchema = {
  operationId: 'listReferences',
  summary: 'Lists references, newest first',
  querystring: only({ ...ReferenceFilter.properties, ...listQuery('references', 'uuid') }),
  response: listAnswer('references', Reference, 'ReferenceList'),
}
const deleteSchema = {
  operationId: 'deleteReference',
  summary: 'Removes all periods of a value; what was posted or decided stays',
  params: ReferenceParams,
  response: { 202: Proposal, 204: Type.Null() },
}

const TEMPLATE = '/references/template.csv'
const ofTemplate = templateSchema(referenceFile, {
  operationId: 'getReferenceTemplate',
  summary: 'Returns the header row of a file of references and one example row',
})
const uploadSchema = {
  operationId: 'uploadReferences',
  'x-refusals': ['CONFLICT'],
  summary: 'Registers the references of a CSV file; invalid rows are left out',
  ...fileSchema(referenceFile, REFERENCE_LIMIT.text, 'ReferenceUpload'),
  response: { 201: titled('UploadedReferences', rowCounts) },
}

type Context = ForApprovals & {
  forReads: Database
  fileTypes: { portfolio: FileType[]; statements: FileType[] }
  limits: { longCalls: number }
}

export async function referenceRoutes(app: App, context: Context): Promise<void> {
  const { forReads, limits } = context
  const limitLongCalls = limitConcurrent(limits.longCalls, 'uploads are in progress')
  const act = actRoutes(app, context)
  await app.register(acceptFiles)

  act.put('/references/:gateway/:kind/:value', putSchema, putCall)

  app.get('/references', toRead(listSchema), async ({ query }) =>
    named('references', await findReferences(forReads, query)),
  )

  act.delete('/references/:gateway/:kind/:value', deleteSchema, deleteCall)

  app.get(TEMPLATE, toRead(ofTemplate), async (_, reply) =>
    csvDownload(reply, 'references.csv').send(template(referenceFile)),
  )

  app.post(
    '/references/upload',
    { schema: uploadSchema, config: operate('reference.write'), onRequest: limitLongCalls },
    async (request, reply) =>
      reply.code(201).send(await uploadReferences(context, request, `/api${TEMPLATE}`)),
  )
}
