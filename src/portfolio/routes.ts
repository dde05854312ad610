import { Readable } from 'node:stream'
import { fastifyMultipart } from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { askerOf } from '../accounts/actor.ts'
import { auditAlone } from '../accounts/audit.ts'
import type { Config } from '../config.ts'
import { type Database, openDatabase } from '../database/database.ts'
import type { Catalogue } from '../engine/operation.ts'
import { atMost } from '../http/connections.ts'
import { closed } from '../http/fields.ts'
import { listQuery } from '../http/list-query.ts'
import { UUID } from '../ids.ts'
import { findLayout, findMigration, listMigrations } from './find-migration.ts'
import { kindOf, migrationKinds } from './kinds/kinds.ts'
import {
  MigrationItem,
  MigrationList,
  MigrationStatus,
  MigrationTypeName,
  Started,
  Uploaded,
} from './record.ts'
import { cancelRun } from './run/cancel-run.ts'
import { retryRun } from './run/retry-run.ts'
import { startRun } from './run/start-run.ts'
import { deleteRows } from './upload/delete-rows.ts'
import { discard } from './upload/discard.ts'
import { errorsCsv } from './upload/errors-csv.ts'
import { firstErrors } from './upload/first-errors.ts'
import { describeColumns, template } from './upload/template.ts'
import { upload } from './upload/upload.ts'
import { takeUpload } from './upload/upload-request.ts'

const tags = ['migration']
const CSV = 'text/csv; charset=utf-8'
const Id = Type.String({
  pattern: UUID,
  description: 'a migration id',
})
const params = Type.Object({ id: Id })

/** A file of a gibibyte has twenty million rows, which are held against each other in one statement. */
const LONG_STATEMENT_MS = 15 * 60_000
const LONG_UPLOADS_AT_ONCE = 4
/** Apart from the uploads, which would keep a run, retry or cancel waiting for as long as one of them takes. */
const LONG_RUN_CALLS_AT_ONCE = 2

export function migrationRoutes(
  db: Database,
  config: Config,
  catalogue: Catalogue,
  mostLongCalls: number,
): FastifyPluginAsyncTypebox {
  const kinds = migrationKinds(catalogue)
  const columns = [...kinds.values()].map(describeColumns).join('\n\n')
  const limitLongCalls = atMost(mostLongCalls, 'uploads, downloads or retries are under way')

  return async app => {
    // We say ourselves that a file is too large: thrown, the caller would not hear it.
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
    const closing = new AbortController()
    let deletions = Promise.resolve()
    app.addHook('onClose', async () => {
      closing.abort()
      await Promise.all([forUploads.destroy(), forRuns.destroy(), deletions])
    })

    app.get(
      '/migration/templates/:type.csv',
      {
        schema: {
          tags,
          summary: 'The header row of a file, and one example',
          description: columns,
          params: Type.Object({ type: MigrationTypeName }),
          produces: ['text/csv'],
          response: { 200: Type.String() },
        },
      },
      async (request, reply) => {
        const { type } = request.params
        return reply
          .type(CSV)
          .header('content-disposition', `attachment; filename="${type}.csv"`)
          .send(template(kindOf(kinds.values(), type)))
      },
    )

    app.post(
      '/migration/upload',
      {
        onRequest: limitLongCalls,
        // Read part by part while it arrives.
        validatorCompiler: () => () => true,
        schema: {
          tags,
          summary: 'Takes a CSV file and checks every row of it; writes nothing to the ledger',
          description: columns,
          consumes: ['multipart/form-data'],
          body: Type.Object({
            type: MigrationTypeName,
            file: Type.String({ format: 'binary', description: 'CSV, at most 1 GiB' }),
          }),
          response: { 201: Uploaded },
        },
      },
      async (request, reply) => {
        const asker = await askerOf(request)
        const id = await takeUpload(request, kinds, (kind, file) =>
          upload({ db, patient: forUploads }, kind, file, asker),
        )
        const record = await findMigration(db, id)
        return reply.code(201).send({ ...record, errors: await firstErrors(db, id) })
      },
    )

    app.post(
      '/migration/run',
      {
        schema: {
          tags,
          summary: 'Takes the valid rows to the ledger, or looks what that would do',
          body: Type.Object(
            {
              migration_id: Id,
              dry_run: Type.Optional(Type.Boolean({ description: 'true or false' })),
              skip_invalid: Type.Optional(Type.Boolean({ description: 'true or false' })),
            },
            { additionalProperties: false },
          ),
          response: { 202: Started },
        },
      },
      async (request, reply) => {
        const { migration_id, dry_run = false, skip_invalid = false } = request.body
        const wanted = { migrationId: migration_id, isDryRun: dry_run, skipInvalid: skip_invalid }
        return reply.code(202).send(await startRun(forRuns, wanted, await askerOf(request)))
      },
    )

    app.get(
      '/migration',
      {
        schema: {
          tags,
          summary: 'Lists migrations, newest first',
          querystring: Type.Object(
            {
              type: Type.Optional(MigrationTypeName),
              status: Type.Optional(MigrationStatus),
              ...listQuery,
            },
            closed,
          ),
          response: { 200: MigrationList },
        },
      },
      request => listMigrations(db, request.query),
    )

    app.get(
      '/migration/:id',
      {
        schema: {
          tags,
          summary: 'Tells how far a migration is',
          params,
          response: { 200: MigrationItem },
        },
      },
      request => findMigration(db, request.params.id),
    )

    app.delete(
      '/migration/:id',
      {
        schema: {
          tags,
          summary: 'Discards a file of which nothing was begun, with its rows',
          params,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        await discard(db, id, await askerOf(request))
        // Not awaited: the rows of a large file take minutes. One file after the other.
        deletions = deletions
          .then(() => deleteRows(db, id, closing.signal))
          .catch(error => app.log.error({ err: error, migration: id }, 'rows are not deleted'))
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/migration/:id/errors.csv',
      {
        onRequest: limitLongCalls,
        schema: {
          tags,
          summary: 'The rows that are invalid, failed or were stopped, each with its reason',
          params,
          produces: ['text/csv'],
          response: { 200: Type.Unsafe<Readable>(Type.String()) },
        },
      },
      async (request, reply) => {
        const layout = await findLayout(db, request.params.id)
        const asker = await askerOf(request)
        await auditAlone(db, {
          ...asker,
          action: 'migration.download',
          subject: layout.id,
          detail: { file: 'errors.csv' },
        })
        return reply
          .type(CSV)
          .header('content-disposition', 'attachment; filename="errors.csv"')
          .send(Readable.from(errorsCsv(forRuns, layout)))
      },
    )

    app.post(
      '/migration/:id/retry',
      {
        onRequest: limitLongCalls,
        schema: {
          tags,
          summary: 'Takes up what failed, was stopped or was left',
          params,
          response: { 202: Started },
        },
      },
      async (request, reply) =>
        reply.code(202).send(await retryRun(forRuns, request.params.id, await askerOf(request))),
    )

    app.post(
      '/migration/:id/cancel',
      {
        schema: {
          tags,
          summary: 'Starts nothing more; what is on its way ends',
          params,
          response: { 202: Started },
        },
      },
      async (request, reply) =>
        reply.code(202).send(await cancelRun(forRuns, request.params.id, await askerOf(request))),
    )
  }
}
