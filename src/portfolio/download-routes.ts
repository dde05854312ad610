import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { askerOf } from '../accounts/access/actor.ts'
import { read } from '../accounts/access/needs.ts'
import { describeColumns, template } from '../csv/template.ts'
import { csvDownload } from '../http/csv-download.ts'
import { kindOf, kinds as known } from './kinds/kinds.ts'
import { MigrationTypeName, ofOneMigration } from './migration-record.ts'
import type { Portfolio } from './portfolio.ts'

const tags = ['migration']
const templateSchema = {
  operationId: 'getMigrationTemplate',
  tags,
  summary: 'Returns the header row of a file and one example row',
  description: known.map(describeColumns).join('\n\n'),
  params: Type.Object({ type: MigrationTypeName }),
  produces: ['text/csv'],
  response: { 200: Type.String() },
}
const ofRows = {
  tags,
  params: ofOneMigration,
  produces: ['text/csv'],
  response: { 200: Type.Unsafe<Readable>(Type.String()) },
}
const downloads = [
  {
    file: 'errors.csv',
    url: '/migration/:id/errors.csv',
    schema: {
      ...ofRows,
      operationId: 'getMigrationErrors',
      summary: 'Downloads the rows that are invalid, failed or were stopped, each with its reason',
    },
  },
  {
    file: 'findings.csv',
    url: '/migration/:id/findings.csv',
    schema: {
      ...ofRows,
      operationId: 'getMigrationFindings',
      summary: 'Downloads what the upload, the last dry run and the run found wrong with the rows',
      description:
        'A line per finding: `line`, `stage` (upload, dry_run or run), `finding`, `reason`, then the row’s own columns.',
    },
  },
] as const

type Context = { portfolio: Portfolio }

export function downloadRoutes({ portfolio }: Context): FastifyPluginAsyncTypebox {
  const { kinds, limitLongCalls } = portfolio
  return async app => {
    app.get(
      '/migration/templates/:type.csv',
      { schema: templateSchema, config: read },
      async (request, reply) => {
        const { type } = request.params
        return csvDownload(reply, `${type}.csv`).send(template(kindOf(kinds.values(), type)))
      },
    )

    for (const { file, url, schema } of downloads)
      app.get(url, { schema, onRequest: limitLongCalls, config: read }, async (request, reply) => {
        const { id } = request.params
        const rows = await portfolio.download(id, file, askerOf(request))
        return csvDownload(reply, file).send(rows)
      })
  }
}
