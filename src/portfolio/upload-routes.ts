import { Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import { askerOf } from '../accounts/access/actor.ts'
import { toOperate } from '../accounts/access/needs.ts'
import { MAX_LISTED } from '../csv/invalid-row.ts'
import { describeColumns, template } from '../csv/template.ts'
import type { Database } from '../database/database.ts'
import type { App } from '../http/app.ts'
import { acceptFiles } from '../http/body/multipart.ts'
import { titledBody } from '../http/fields/schemas.ts'
import { findMigration } from './find-migration.ts'
import { kinds as known } from './kinds/kinds.ts'
import { MigrationTypeName, UploadedMigration } from './migration-record.ts'
import type { Portfolio } from './portfolio.ts'
import { UPLOAD_LIMIT } from './upload/take-upload.ts'

const description = [
  'The part `type` comes before the part `file`, which is read as it arrives; it may also follow a file of up to 4 MiB.',
  ...known.map(describeColumns),
].join('\n\n')
const uploadSchema = {
  operationId: 'uploadMigration',
  summary: 'Uploads a CSV file and checks every row; writes nothing to the ledger',
  description,
  consumes: ['multipart/form-data'],
  body: titledBody('MigrationUpload', {
    type: MigrationTypeName,
    file: Type.String({
      format: 'binary',
      description: `CSV, at most ${UPLOAD_LIMIT.text}`,
      examples: [known.map(template)[0] ?? ''],
    }),
  }),
  response: { 201: UploadedMigration },
}
type Context = { db: Database; portfolio: Portfolio }

export async function uploadRoutes(app: App, { db, portfolio }: Context): Promise<void> {
  await app.register(acceptFiles)
  const { limitLongCalls } = portfolio
  app.post(
    '/migration/upload',
    { ...toOperate(uploadSchema), onRequest: limitLongCalls },
    async (request, reply) => {
      const id = await portfolio.upload(request, askerOf(request), '/api/migration/templates')
      const record = await findMigration(db, id)
      return reply.code(201).send({ ...record, errors: await firstErrors(db, id) })
    },
  )
}

async function firstErrors(db: Database, id: string) {
  const { rows } = await sql<{ line: number; reason: string }>`
    select line, reason from loanops.migration_row
     where migration_id = ${id} and state = 'invalid' order by line limit ${MAX_LISTED}`.execute(db)
  return rows
}
