import { fastifyMultipart } from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Config } from '../config/config.ts'
import { type Database, openDatabase } from '../database/database.ts'
import type { Catalogue } from '../engine/operation.ts'
import { atMost } from '../http/connections.ts'
import { closed } from '../http/fields.ts'
import { listQuery } from '../http/list-query.ts'
import { findMigration, listMigrations } from './find-migration.ts'
import { migrationKinds } from './kinds/kinds.ts'
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

/** A file of 1 GiB has twenty million rows, and one statement checks them against each other. */
const LONG_STATEMENT_MS = 15 * 60_000
const LONG_UPLOADS_AT_ONCE = 4
/** A pool of their own, because a run, retry, cancel or download must not wait for an upload to finish. */
const LONG_RUN_CALLS_AT_ONCE = 2

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

type Context = {
  db: Database
  config: Config
  catalogue: Catalogue
  limits: { longCalls: number }
}

export function migrationRoutes(context: Context): FastifyPluginAsyncTypebox {
  const { db, config, catalogue, limits } = context
  const kinds = migrationKinds(catalogue)
  const limitLongCalls = atMost(limits.longCalls, 'uploads, downloads or retries are in progress')

  return async app => {
    // If the plugin threw here, the caller would never receive our answer that the file is too large.
    await app.register(fastifyMultipart, { throwFileSizeLimit: false })
    const patient = (max: number) =>
      openDatabase(config.DATABASE_URL, {
        max,
        name: 'loanops-migration',
        onError: error => app.log.error({ err: error }, 'database'),
        statementMs: LONG_STATEMENT_MS,
      })
    const forUploads = patient(LONG_UPLOADS_AT_ONCE)
    const forRuns = patient(LONG_RUN_CALLS_AT_ONCE)
    app.addHook('onClose', async () => {
      await Promise.all([forUploads.destroy(), forRuns.destroy()])
    })

    app.get('/migration', { schema: listSchema }, request => listMigrations(db, request.query))

    app.get('/migration/:id', { schema: itemSchema }, request =>
      findMigration(db, request.params.id),
    )

    await app.register(uploadRoutes({ db, patient: forUploads }, kinds, limitLongCalls))
    await app.register(downloadRoutes({ db, patient: forRuns }, kinds, limitLongCalls))
    await app.register(runRoutes(forRuns, limitLongCalls))
  }
}
