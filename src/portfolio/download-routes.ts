import type { Readable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import type { FastifyContextConfig } from 'fastify'
import { askerOf } from '../accounts/access/actor.ts'
import { read } from '../accounts/access/needs.ts'
import { describeColumns, template } from '../csv/template.ts'
import type { App } from '../http/app.ts'
import { csvDownload } from '../http/csv-download.ts'
import { kinds as known, rowKindOf } from './kinds/kinds.ts'
import { MigrationTypeName, ofOneMigration } from './migration-record.ts'
import type { Portfolio } from './portfolio.ts'

const templateSchema = {
  operationId: 'getMigrationTemplate',
  summary: 'Returns the header row of a file and one example row',
  description: known.map(describeColumns).join('\n\n'),
  params: Type.Object({ type: MigrationTypeName }),
  produces: ['text/csv'],
  response: { 200: Type.String() },
}
const ofRows = {
  params: ofOneMigration,
  produces: ['text/csv'],
  response: { 200: Type.Unsafe<Readable>(Type.String()) },
}
const downloads = {
  'errors.csv': {
    ...ofRows,
    operationId: 'getMigrationErrors',
    summary: 'Downloads the rows that are invalid, failed or were stopped, each with its reason',
  },
  'findings.csv': {
    ...ofRows,
    operationId: 'getMigrationFindings',
    summary: 'Downloads what the upload, the last dry run and the run found wrong with the rows',
    description:
      'A line per finding: `line`, `stage` (upload, dry_run or run), `finding`, `reason`, then the row’s own columns.',
  },
} as const

const URLS = {
  template: '/migration/templates/:type.csv',
  'errors.csv': '/migration/:id/errors.csv',
  'findings.csv': '/migration/:id/findings.csv',
}

export const downloadRoutes = (app: App, { portfolio }: { portfolio: Portfolio }) =>
  downloadsAt(app, URLS, portfolio, read)

/** The template and the downloads about the rows of a file, which the console has at URLs of its own. */
export function downloadsAt(
  app: App,
  urls: typeof URLS,
  portfolio: Portfolio,
  config: typeof read & FastifyContextConfig,
): void {
  const { kinds, limitDownloads } = portfolio
  app.get(urls.template, { schema: templateSchema, config }, async (request, reply) => {
    const { type } = request.params
    return csvDownload(reply, `${type}.csv`).send(template(rowKindOf(kinds.values(), type)))
  })

  for (const file of ['errors.csv', 'findings.csv'] as const) {
    const options = { schema: downloads[file], onRequest: limitDownloads, config }
    app.get(urls[file], options, async (request, reply) => {
      const rows = await portfolio.download(request.params.id, file, askerOf(request))
      return csvDownload(reply, file).send(rows)
    })
  }
}
