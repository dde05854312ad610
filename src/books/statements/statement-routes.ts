import { Type } from '@sinclair/typebox'
import { askerOf } from '../../accounts/access/actor.ts'
import { toOperate, toRead } from '../../accounts/access/needs.ts'
import { actRoutes } from '../../accounts/approvals/act-routes.ts'
import { Proposal } from '../../accounts/approvals/approval-record.ts'
import type { Config } from '../../config/config.ts'
import { fileSchema, templateSchema } from '../../csv/file-schemas.ts'
import type { FileType } from '../../csv/reading/file-type.ts'
import { describeColumns, template } from '../../csv/template.ts'
import type { Database } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { acceptFiles, takeFile } from '../../http/body/multipart.ts'
import { limitConcurrent } from '../../http/connections/connections.ts'
import { csvDownload } from '../../http/csv-download.ts'
import { oneOf, only } from '../../http/fields/schemas.ts'
import { Id } from '../../http/fields/text-fields.ts'
import { listAnswer, listQuery, named } from '../../http/lists/list-query.ts'
import { NotFound } from '../../http/problem.ts'
import { findStatements, StatementFile } from './find-statements.ts'
import { STATEMENT_LIMIT, statementFile } from './statement-file.ts'
import { UploadedStatement, uploadStatement } from './upload-statement.ts'
import { withdrawCall } from './withdraw-call.ts'

const TEMPLATE = '/gateways/statement-template.csv'
const ofTemplate = templateSchema(statementFile, {
  operationId: 'getStatementTemplate',
  summary: 'Returns the header row of a statement and one example row',
})
const ofGateway = { gateway: Type.String({ examples: ['gateway_a'] }) }
const uploadSchema = (lenders: string[]) => ({
  operationId: 'uploadStatement',
  summary: 'Uploads a gateway’s own report of its payments; each day of its valid rows is complete',
  ...fileSchema(statementFile, STATEMENT_LIMIT.text, 'StatementUpload'),
  description: `${describeColumns(statementFile)}\n\nThe gateways’ own exports of payments and settlements are recognised by their headers.`,
  params: Type.Object(ofGateway),
  querystring: only({ lender: oneOf(lenders, 'the code of a lender') }),
  response: { 201: UploadedStatement },
})

const listSchema = {
  operationId: 'listStatements',
  summary: 'Lists the files that were uploaded for a gateway, newest first',
  params: Type.Object(ofGateway),
  querystring: only(listQuery('statements', 'uuid')),
  response: listAnswer('statements', StatementFile, 'StatementFileList'),
}
const withdrawSchema = {
  operationId: 'withdrawStatement',
  summary: 'Withdraws an uploaded file with its rows',
  description:
    'Rows that it had replaced do not come back. Its days are no longer complete because of it.',
  params: Type.Object({ ...ofGateway, id: Id }),
  response: { 202: Proposal, 204: Type.Null() },
}

type Context = {
  db: Database
  forReads: Database
  config: Config
  fileTypes: { portfolio: FileType[] }
  limits: { longCalls: number }
}

export async function statementRoutes(app: App, context: Context): Promise<void> {
  const { db, forReads, config, fileTypes, limits } = context
  const { lenders, gateways } = config
  const schema = uploadSchema([...lenders.keys()])
  const place = { gateways, others: fileTypes.portfolio, templateUrl: `/api${TEMPLATE}` }
  const limitLongCalls = limitConcurrent(limits.longCalls, 'uploads are in progress')
  await app.register(acceptFiles)

  app.get(TEMPLATE, toRead(ofTemplate), async (_, reply) =>
    csvDownload(reply, 'statement.csv').send(template(statementFile)),
  )

  app.post(
    '/gateways/:gateway/statement',
    { ...toOperate(schema), onRequest: limitLongCalls },
    async (request, reply) => {
      const { gateway } = request.params
      const { lender } = request.query
      refuseUnknown(config, gateway)
      const asker = askerOf(request)
      const uploaded = await takeFile(request, [], STATEMENT_LIMIT, file =>
        uploadStatement(db, { ...place, gateway, lender }, file, asker),
      )
      return reply.code(201).send(uploaded)
    },
  )

  app.get('/gateways/:gateway/statements', toRead(listSchema), async ({ params, query }) => {
    refuseUnknown(config, params.gateway)
    const found = await findStatements(forReads, { ...query, gateway: params.gateway })
    return named('statements', found)
  })

  actRoutes(app, context).delete('/gateways/:gateway/statements/:id', withdrawSchema, withdrawCall)
}

function refuseUnknown({ gateways }: Config, gateway: string): void {
  if (!gateways.some(({ name }) => name === gateway)) throw new NotFound(`No gateway ${gateway}`)
}
