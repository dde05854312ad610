import { type Static, Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import { requireUploader } from '../../accounts/approvals/person.ts'
import { type Asker, audit } from '../../accounts/audit.ts'
import { rowCounts } from '../../csv/file-schemas.ts'
import { decode } from '../../csv/reading/decode.ts'
import { readCsv } from '../../csv/reading/read-csv.ts'
import { afterTaking, UnreadableFile } from '../../csv/reading/unreadable-file.ts'
import { type Database, inTransaction } from '../../database/database.ts'
import type { UploadedFile } from '../../http/body/multipart.ts'
import { fileFields } from '../../http/fields/file-facts.ts'
import { titled } from '../../http/fields/schemas.ts'
import { newId } from '../../ids.ts'
import { withStatuses } from '../apis/with-statuses.ts'
import { findStatement } from './find-statements.ts'
import type { Place } from './recognise.ts'
import { saveStatementRows, Withdrawn } from './save-rows.ts'
import { noteDays } from './statement-days.ts'
import { statementReader } from './statement-reader.ts'

const MAX_NAMED = 3
export const AS_A_WHOLE = 'as a whole: its rows replace these, and only then its days are complete'
const UPLOAD_AGAIN = `Upload the corrected file ${AS_A_WHOLE}`
export const rowsTaken = (rows: number) => `The first valid rows (${rows}) are saved`

export const UploadedStatement = titled('UploadedStatement', {
  statement_id: Type.String(),
  ...fileFields,
  ...rowCounts,
  ignored_columns: Type.Array(Type.String(), {
    description: 'the columns of the file that are not used',
  }),
})
type Uploaded = Static<typeof UploadedStatement>
type StatementOf = Place & { lender: string }

/**
 * Days count as complete only once the whole file has been read. The rows that an interrupted upload has saved are
 * listed and can be withdrawn; the next upload replaces them.
 */
export async function uploadStatement(
  db: Database,
  of: StatementOf,
  file: UploadedFile,
  asker: Asker,
): Promise<Uploaded> {
  const statement_id = newId()
  const { gateway, lender } = of
  const open = { id: statement_id, gateway, lender, fileName: file.name, asker }
  const read = statementReader(of, {
    withStatuses: rows => withStatuses(db, gateway, rows),
    save: (rows, count) => saveStatementRows(db, open, rows, count),
  })
  try {
    await readCsv(decode(file.bytes), read)
    await read.end()
  } catch (error) {
    throw await afterTaking(error, reason =>
      keepRefusal(db, statement_id, read.result.errors, reason),
    )
  }
  const { valid, invalid, days, refused, errors, ignored } = read.result
  const rows = valid + invalid
  if (rows === 0) throw read.noRows()
  if (valid === 0) throw noneValid(errors)
  const counts = { rows, valid_rows: valid, invalid_rows: invalid }
  const sha256 = file.sha256()
  const facts = await inTransaction(db, async trx => {
    await requireUploader(trx, asker)
    const { numAffectedRows } = await sql`
      update core.statement_file
         set rows = ${rows}, valid_rows = ${valid}, file_sha256 = decode(${sha256}, 'hex'),
             errors = ${JSON.stringify(errors)}, ignored_columns = ${ignored}
       where id = ${statement_id} and withdrawn_at is null`.execute(trx)
    if (numAffectedRows === 0n) throw new Withdrawn()
    await noteDays(trx, statement_id, days, refused)
    const { file_name, file_sha256, same_as } = await findStatement(trx, statement_id)
    const facts = { file_name, file_sha256, same_as }
    const detail = { gateway, lender, ...facts, ...counts }
    await audit(trx, { ...asker, action: 'gateway.statement', subject: statement_id, detail })
    return facts
  })
  return { statement_id, ...facts, ...counts, errors, ignored_columns: ignored }
}

/**
 * Saves, for the file's page, why the file was refused after some of its rows were saved.
 * @returns how many rows were saved, for the answer
 */
async function keepRefusal(db: Database, id: string, errors: Uploaded['errors'], reason: string) {
  const refused = JSON.stringify([...errors, { line: null, reason }])
  const { rows } = await sql<{ taken: number }>`
    update core.statement_file set errors = ${refused}
     where id = ${id} and withdrawn_at is null returning valid_rows::float8 as taken`.execute(db)
  return rows[0] && `${rowsTaken(rows[0].taken)}. ${UPLOAD_AGAIN}`
}

function noneValid(errors: Uploaded['errors']) {
  const named = errors.slice(0, MAX_NAMED).map(({ line, reason }) => `line ${line}: ${reason}`)
  return new UnreadableFile(`The file has no valid row: ${named.join('; ')}`)
}
