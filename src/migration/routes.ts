import { Readable } from 'node:stream'
import { fastifyMultipart } from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { askerOf } from '../accounts/actor.ts'
import { auditAlone } from '../accounts/audit.ts'
import type { Config } from '../config.ts'
import { type Database, openDatabase } from '../database.ts'
import { UUID } from '../ids.ts'
import type { Catalogue } from '../operations/catalogue.ts'
import { cancelRun } from './cancel-run.ts'
import { errorsCsv } from './errors-csv.ts'
import { findLayout, findMigration } from './find-migration.ts'
import { firstErrors } from './first-errors.ts'
import { migrationKinds } from './kinds.ts'
import { MigrationItem, MigrationTypeName, Started, Uploaded } from './record.ts'
import { retryRun } from './retry-run.ts'
import { startRun } from './start-run.ts'
import { describeColumns, template } from './template.ts'
import { upload } from './upload.ts'
import { takeUpload } from './upload-request.ts'

const tags = ['migration']
const CSV = 'text/csv; charset=utf-8'
const Id = Type.String({
  pattern: UUID,
  description: 'a migration id',
})
const params = Type.Object({ id: Id })

/** A file of a gibibyte has twenty million rows, which are held against each other in one statement. */
const LONG_STATEMENT_MS = 15 * 60_000
const LONG_STATEMENTS_AT_ONCE = 4

export function migrationRoutes(
  db: Database,
  config: Config,
  catalogue: Catalogue,
): FastifyPluginAsyncTypebox {
  const kinds = migrationKinds(catalogue)
  const columns = Object.values(kinds).map(describeColumns).join('\n\n')

  return async app => {
    // We say ourselves that a file is too large: thrown, the caller would not hear it.
    await app.register(fastifyMultipart, { throwFileSizeLimit: false })
    const patient = openDatabase(config.DATABASE_URL, {
      max: LONG_STATEMENTS_AT_ONCE,
      name: 'loanops-migration',
      onError: error => app.log.error({ err: error }, 'database'),
      longStatementMs: LONG_STATEMENT_MS,
    })
    app.addHook('onClose', () => patient.destroy())

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
          .send(template(kinds[type]))
      },
    )

    app.post(
      '/migration/upload',
      {
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
        const id = await takeUpload(request, (type, file) =>
          upload({ db, patient }, kinds[type], file, asker),
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
        return reply.code(202).send(await startRun(db, wanted, await askerOf(request)))
      },
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

    app.get(
      '/migration/:id/errors.csv',
      {
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
          .send(Readable.from(errorsCsv(db, layout)))
      },
    )

    app.post(
      '/migration/:id/retry',
      {
        schema: {
          tags,
          summary: 'Takes up what failed, was stopped or was left',
          params,
          response: { 202: Started },
        },
      },
      async (request, reply) =>
        reply.code(202).send(await retryRun(patient, request.params.id, await askerOf(request))),
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
        reply.code(202).send(await cancelRun(db, request.params.id, await askerOf(request))),
    )
  }
}
