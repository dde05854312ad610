import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Database } from '../database/database.ts'
import { closed } from '../http/fields.ts'
import { listQuery } from '../http/list-query.ts'
import { findMigration, listMigrations } from './find-migration.ts'
import {
  MigrationItem,
  MigrationList,
  MigrationStatus,
  MigrationTypeName,
  ofOneMigration,
} from './record.ts'

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

export function migrationRoutes({ db }: { db: Database }): FastifyPluginAsyncTypebox {
  return async app => {
    app.get('/migration', { schema: listSchema }, request => listMigrations(db, request.query))

    app.get('/migration/:id', { schema: itemSchema }, request =>
      findMigration(db, request.params.id),
    )
  }
}
