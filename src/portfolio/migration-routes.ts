import { Type } from '@sinclair/typebox'
import { toRead } from '../accounts/access/needs.ts'
import { actRoutes } from '../accounts/approvals/act-routes.ts'
import { Proposal } from '../accounts/approvals/approval-record.ts'
import type { ForApprovals } from '../accounts/approvals/perform.ts'
import type { Database } from '../database/database.ts'
import type { App } from '../http/app.ts'
import { only } from '../http/fields/schemas.ts'
import { listAnswer, listQuery, named } from '../http/lists/list-query.ts'
import { findMigration, listMigrations } from './find-migration.ts'
import {
  MigrationItem,
  MigrationStatus,
  MigrationTypeName,
  ofOneMigration,
} from './migration-record.ts'
import type { Portfolio } from './portfolio.ts'

const listSchema = {
  operationId: 'listMigrations',
  summary: 'Lists migrations, newest first',
  querystring: only({
    type: Type.Optional(MigrationTypeName),
    status: Type.Optional(MigrationStatus),
    ...listQuery('migrations', 'uuid'),
  }),
  response: listAnswer('migrations', MigrationItem, 'MigrationList'),
}
const itemSchema = {
  operationId: 'getMigration',
  summary: 'Shows the progress of a migration',
  params: ofOneMigration,
  response: { 200: MigrationItem },
}
const discardSchema = {
  operationId: 'discardMigration',
  'x-refusals': ['CONFLICT'],
  summary: 'Discards a file and its rows, if no row has been started',
  params: ofOneMigration,
  response: { 202: Proposal, 204: Type.Null() },
}

type Context = ForApprovals & { forReads: Database; portfolio: Portfolio }

export function migrationRoutes(app: App, context: Context): void {
  const { forReads, portfolio } = context
  app.get('/migration', toRead(listSchema), async ({ query }) =>
    named('migrations', await listMigrations(forReads, query)),
  )

  app.get('/migration/:id', toRead(itemSchema), request =>
    findMigration(forReads, request.params.id),
  )

  actRoutes(app, context).delete('/migration/:id', discardSchema, portfolio.calls.discardCall)
}
