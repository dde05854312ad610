import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Database } from '../database/database.ts'
import { closed } from '../http/fields.ts'
import { listQuery } from '../http/list-query.ts'
import { acceptFiles } from '../http/multipart.ts'
import { findMigration, listMigrations } from './find-migration.ts'
import type { Portfolio } from './portfolio.ts'
import {
  MigrationItem,
  MigrationList,
  MigrationStatus,
  MigrationTypeName,
  ofOneMigration,
} from './record.ts'
import { runRoutes } from './run/routes.ts'
import { downloadRoutes } from './upload/download-routes.ts'
import { uploadRoutes } from './upload/routes.ts'

const tags = ['migration']
const listSchema = {
  operationId: 'listMigrations',
  tags,
  summary: 'Lists migrations, newest first',
  querystring: Type.Object(
    {
      type: Type.Optional(MigrationTypeName),
      status: Type.Optional(MigrationStatus),
      ...listQuery('uuid'),
    },
    closed,
  ),
  response: { 200: MigrationList },
}
const itemSchema = {
  operationId: 'getMigration',
  tags,
  summary: 'Shows the progress of a migration',
  params: ofOneMigration,
  response: { 200: MigrationItem },
}

type Context = { db: Database; portfolio: Portfolio }

export function migrationRoutes({ db, portfolio }: Context): FastifyPluginAsyncTypebox {
  return async app => {
    await app.register(acceptFiles)

    app.get('/migration', { schema: listSchema }, request => listMigrations(db, request.query))

    app.get('/migration/:id', { schema: itemSchema }, request =>
      findMigration(db, request.params.id),
    )

    await app.register(uploadRoutes(db, portfolio))
    await app.register(downloadRoutes(portfolio))
    await app.register(runRoutes(portfolio))
  }
}
