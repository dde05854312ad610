import { sql } from 'kysely'
import { requireUploader } from '../../accounts/approvals/person.ts'
import { type Asker, audit } from '../../accounts/audit.ts'
import { madeUpValues } from '../../csv/made-up-values.ts'
import type { FileType } from '../../csv/reading/file-type.ts'
import { readUpload, type UploadRow } from '../../csv/reading/read-upload.ts'
import type { Database, Row, Trx } from '../../database/database.ts'
import { keepRenewing } from '../../database/lease.ts'
import { retry } from '../../database/retry.ts'
import { Unavailable } from '../../database/unavailable.ts'
import type { UploadedFile } from '../../http/body/multipart.ts'
import { newId } from '../../ids.ts'
import { storableText } from '../../text/storable.ts'
import { deleteRows } from '../delete-rows.ts'
import { findMigration } from '../find-migration.ts'
import { portfolioTypes, type ReadyKind } from '../kinds/kinds.ts'
import { checkAcross } from './check-across.ts'
import { findingsType } from './findings-csv.ts'
import { insertRows, type NewRow } from './insert-rows.ts'

/** The beats are so frequent that a live upload never looks abandoned. */
const BEAT_EVERY_MS = 60_000
/** A failover takes less time. After this, the caller gets the error. */
const OUTAGE_MS = 120_000
const TRY_AGAIN_MS = 500

type Context = { db: Database; patient: Database; beatEveryMs?: number }
type Place = { kind: ReadyKind; others: FileType[]; templates: string }

export async function upload(
  { db, patient, beatEveryMs = BEAT_EVERY_MS }: Context,
  place: Place,
  file: UploadedFile,
  asker: Asker,
): Promise<string> {
  const id = newId()
  const heartbeat = keepRenewing(() => beat(db, id), undefined, beatEveryMs)
  try {
    const rows = await saveRows(db, place, id, file)
    const read = { id, rows, sha256: file.sha256() }
    await throughOutage(() => analyze(patient))
    await throughOutage(() =>
      patient.transaction().execute(trx => check(trx, place.kind, read, asker)),
    )
  } catch (error) {
    await forget(patient, id).catch(() => undefined)
    throw error
  } finally {
    heartbeat.stop()
  }
  return id
}

const throughOutage = <T>(work: () => Promise<T>): Promise<T> =>
  retry(work, { withinMs: OUTAGE_MS, everyMs: TRY_AGAIN_MS })

/** During an upload, `uploaded_at` is the time of its last sign of life. */
async function beat(db: Database, id: string) {
  await sql`
    update loanops.migration set uploaded_at = now()
     where id = ${id} and status = 'uploading'`.execute(db)
}

/** Checks the rows against each other. If its answer was lost, it may be called again, and then changes nothing. */
async function check(
  trx: Trx,
  kind: ReadyKind,
  { id, rows, sha256 }: { id: string; rows: number; sha256: string },
  asker: Asker,
) {
  const { rows: found } = await sql<Row<'loanops.migration', 'status'>>`
    select status from loanops.migration where id = ${id} for update`.execute(trx)
  if (found[0] === undefined)
    throw new Unavailable('the upload was considered abandoned and has been removed')
  if (found[0].status !== 'uploading') return
  // The rules may sort a million rows.
  await sql`set local work_mem = '64MB'`.execute(trx)
  await checkAcross(trx, kind.rules, id)
  const { numAffectedRows } = await sql`
    update loanops.migration m
       set status = 'uploaded', uploaded_at = now(), rows = c.rows, valid_rows = c.valid,
           invalid_rows = c.rows - c.valid, file_sha256 = decode(${sha256}, 'hex')
      from (select count(*)::integer as rows, (count(*) filter (where state = 'valid'))::integer as valid
              from loanops.migration_row where migration_id = ${id}) c
     where m.id = ${id} and c.rows = ${rows}`.execute(trx)
  if (numAffectedRows !== 1n) throw new Unavailable('the file was not stored completely')
  // This comes last: it locks the account, which nobody could disable during the check otherwise.
  await requireUploader(trx, asker)
  const { file_name, file_sha256, same_as } = await findMigration(trx, id)
  const detail = { type: kind.type, file_name, file_sha256, same_as }
  await audit(trx, { ...asker, action: 'migration.upload', subject: id, detail })
}

async function saveRows(
  db: Database,
  { kind, others, templates }: Place,
  id: string,
  file: UploadedFile,
): Promise<number> {
  const templateUrl = `${templates}/${kind.type}.csv`
  const place = { kind, others: mistakenFor(kind, others), templateUrl }
  return readUpload(file.bytes, place, {
    async header(columns, delimiter) {
      await throughOutage(() =>
        sql`
          insert into loanops.migration (id, type, columns, delimiter, file_name)
          values (${id}, ${kind.type}, ${columns}, ${delimiter}, ${file.name})
          on conflict do nothing`.execute(db),
      )
    },
    check: row => checked(kind, row),
    async save(batch) {
      let isRepeated = false
      await throughOutage(() => {
        const inserting = insertBatch(db, id, batch, isRepeated)
        isRepeated = true
        return inserting
      })
    },
  })
}

function checked(kind: ReadyKind, { line, cells, fields, misfit, rounded }: UploadRow): NewRow {
  if (misfit !== null)
    return { line, cells: cells.map(storableText), errors: [misfit], loanExternalId: null }
  const row = kind.check(fields)
  row.errors.push(...madeUpValues(fields), ...rounded)
  return { line, cells, ...row }
}

/** The other types that a file may be of. A file that fits its own type is of no other, unless it is a list of findings. */
function mistakenFor(kind: ReadyKind, others: FileType[]): FileType[] {
  const siblings = portfolioTypes(type => `choose ${type} as its type`)
  return [
    findingsType,
    ...[...siblings, ...others].map(other => ({
      ...other,
      isHeader: (columns: string[]) => !kind.isHeader(columns) && other.isHeader(columns),
    })),
  ]
}

/** Inserts a batch in a transaction of its own, so that a slow caller does not hold a connection while it sends. */
async function insertBatch(db: Database, id: string, rows: NewRow[], isRepeated: boolean) {
  await db.transaction().execute(async trx => {
    // The final check notices rows that a crash of PostgreSQL has lost, and its commit makes all rows durable.
    await sql`set local synchronous_commit = off`.execute(trx)
    await insertRows(trx, id, rows, isRepeated)
  })
}

/** Without new statistics the planner assumes that there are no new rows, and there may be a million. */
async function analyze(db: Database) {
  await sql`select loanops.analyze_migration_rows()`.execute(db)
}

/** The migration is deleted before its rows: if it was committed after all, the rows stay. */
async function forget(db: Database, id: string) {
  const { numAffectedRows } = await sql`
    delete from loanops.migration where id = ${id} and status = 'uploading'`.execute(db)
  if (numAffectedRows === 1n) await deleteRows(db, id)
}
