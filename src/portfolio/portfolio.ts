import { Readable } from 'node:stream'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { type Asker, auditAlone } from '../accounts/audit.ts'
import type { Config } from '../config/config.ts'
import type { FileType } from '../csv/reading/file-type.ts'
import { type Database, logLosses, openDatabase } from '../database/database.ts'
import type { Catalogue } from '../engine/operation.ts'
import { limitConcurrent } from '../http/connections/connections.ts'
import { backgroundDeletion } from './delete-rows.ts'
import { readLayout } from './find-migration.ts'
import { migrationKinds } from './kinds/kinds.ts'
import { portfolioCalls } from './portfolio-calls.ts'
import { cancelRun } from './run/cancel-run.ts'
import { errorsCsv } from './upload/errors-csv.ts'
import { findingsCsv } from './upload/findings-csv.ts'
import { takeUpload } from './upload/take-upload.ts'
import { upload } from './upload/upload.ts'

/** A file of 1 GiB has twenty million rows, and one statement checks them against each other. */
const UPLOAD_STATEMENT_MS = 15 * 60_000
/** Each upload may occupy a core of PostgreSQL for minutes. */
const MAX_CONCURRENT_UPLOADS = 4
/** Runs, retries, cancels and downloads have their own pool, because they must not wait for an upload to finish. */
const MAX_CONCURRENT_RUN_CALLS = 2

export type Portfolio = ReturnType<typeof openPortfolio>

const DOWNLOADS = { 'errors.csv': errorsCsv, 'findings.csv': findingsCsv }

type Context = {
  db: Database
  config: Config
  catalogue: Catalogue
  fileTypes: { statements: FileType[] }
  limits: { longCalls: number }
}

export function openPortfolio(context: Context, log: FastifyBaseLogger) {
  const { db, config, catalogue, fileTypes, limits } = context
  const kinds = migrationKinds(catalogue)
  const patient = (max: number) =>
    openDatabase(config.DATABASE_URL, {
      max,
      name: 'loanops-migration',
      onError: logLosses(log),
      statementMs: UPLOAD_STATEMENT_MS,
    })
  const forUploads = patient(MAX_CONCURRENT_UPLOADS)
  const forRuns = patient(MAX_CONCURRENT_RUN_CALLS)
  const deletion = backgroundDeletion(db, log)

  return {
    kinds,
    limitLongCalls: limitConcurrent(limits.longCalls, 'uploads or retries are in progress'),
    limitDownloads: limitConcurrent(
      limits.longCalls,
      'downloads are in progress',
      Math.ceil(limits.longCalls / 2),
    ),
    /** @param templates where the caller finds the templates @returns the migration's id */
    upload: (request: FastifyRequest, asker: Asker, templates: string) =>
      takeUpload(request, kinds, (kind, file) => {
        const place = { kind, templates, others: fileTypes.statements }
        return upload({ db, patient: forUploads }, place, file, asker)
      }),
    calls: portfolioCalls({ forRuns, deletion }),
    cancel: (id: string, asker: Asker) => cancelRun(forRuns, id, asker),
    async download(id: string, file: keyof typeof DOWNLOADS, asker: Asker) {
      const layout = await readLayout(db, id)
      const detail = { file }
      await auditAlone(db, { ...asker, action: 'migration.download', subject: layout.id, detail })
      return Readable.from(DOWNLOADS[file](forRuns, layout))
    },
    async close() {
      await deletion.stop()
      await Promise.all([forUploads.destroy(), forRuns.destroy()])
    },
  }
}
