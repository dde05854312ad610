import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { askerOf } from '../../accounts/actor.ts'
import type { Config } from '../../config/config.ts'
import { describeColumns, template } from '../../csv/template.ts'
import type { Database } from '../../database/database.ts'
import { limitConcurrent } from '../../http/connections.ts'
import { csvDownload } from '../../http/csv-download.ts'
import { acceptFiles, takeFile } from '../../http/multipart.ts'
import { FieldErrors, NotFound } from '../../http/problem.ts'
import { closed, oneOf } from '../../http/schemas.ts'
import { STATEMENT_LIMIT, statementFile } from './statement-file.ts'
import { uploadStatement } from './upload-statement.ts'

const tags = ['books']
const templateSchema = {
  operationId: 'getStatementTemplate',
  tags,
  summary: 'Returns the header row of a statement and one example row',
  description: describeColumns(statementFile),
  produces: ['text/csv'],
  response: { 200: Type.String() },
}
const uploadSchema = (lenders: string[]) => ({
  operationId: 'uploadStatement',
  tags,
  summary: 'Uploads a gateway’s own report of its payments; each day of its valid rows is complete',
  description: describeColumns(statementFile),
  consumes: ['multipart/form-data'],
  params: Type.Object({ gateway: Type.String({ examples: ['gateway_a'] }) }),
  querystring: Type.Object({ lender: oneOf(lenders, 'the code of a lender') }, closed),
  body: Type.Object(
    {
      file: Type.String({
        format: 'binary',
        description: `CSV, at most ${STATEMENT_LIMIT.text}`,
        examples: [template(statementFile)],
      }),
    },
    closed,
  ),
  response: {
    201: Type.Object({
      statement_id: Type.String(),
      rows: Type.Integer(),
      valid_rows: Type.Integer(),
      invalid_rows: Type.Integer(),
      errors: Type.Array(Type.Object({ line: Type.Integer(), reason: Type.String() }), {
        description: 'the first hundred invalid rows',
      }),
    }),
  },
})

type Context = { db: Database; config: Config; limits: { longCalls: number } }

export function statementRoutes({ db, config, limits }: Context): FastifyPluginAsyncTypebox {
  const { lenders, gateways, LEDGER_TIMEZONE: timeZone } = config
  const schema = uploadSchema([...lenders.keys()])
  const limitLongCalls = limitConcurrent(limits.longCalls, 'uploads are in progress')
  return async app => {
    await app.register(acceptFiles)

    app.get('/gateways/statement-template.csv', { schema: templateSchema }, async (_, reply) =>
      csvDownload(reply, 'statement.csv').send(template(statementFile)),
    )

    app.post(
      '/gateways/:gateway/statement',
      // The body is read as it arrives, so there is nothing to validate before the handler.
      { schema, onRequest: limitLongCalls, validatorCompiler: () => () => true },
      async (request, reply) => {
        const { gateway } = request.params
        if (!gateways.some(({ name }) => name === gateway))
          throw new NotFound(`No gateway ${gateway}`)
        const lender = lenderIn(request.query, lenders)
        const asker = await askerOf(request)
        const of = { gateway, lender, timeZone }
        const uploaded = await takeFile(request, STATEMENT_LIMIT, file =>
          uploadStatement(db, of, file, asker),
        )
        return reply.code(201).send(uploaded)
      },
    )
  }
}

/** @throws FieldErrors */
function lenderIn(query: object, lenders: Config['lenders']): string {
  const { lender, ...others } = query as { lender?: unknown }
  const errors = Object.keys(others).map(name => ({
    path: `/${name}`,
    message: 'is not a known field',
  }))
  const isKnown = typeof lender === 'string' && lenders.has(lender)
  if (!isKnown) errors.push({ path: '/lender', message: 'must be the code of a lender' })
  if (errors.length > 0) throw new FieldErrors('INVALID_QUERY', errors)
  return lender as string
}
