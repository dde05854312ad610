import { sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import { decode } from '../../csv/decode.ts'
import { type CsvFields, fieldsOf, misfitOf } from '../../csv/fields.ts'
import { unescapeFormula } from '../../csv/formula.ts'
import { columnsOf } from '../../csv/header.ts'
import { readCsv } from '../../csv/read-csv.ts'
import type { CsvRow } from '../../csv/row-batches.ts'
import { noRows, UnreadableFile } from '../../csv/unreadable-file.ts'
import type { Database } from '../../database/database.ts'
import { newId } from '../../ids.ts'
import { isTime, readAmounts, statementErrors } from './check-statement-row.ts'
import { keepRows } from './keep-rows.ts'
import { noteDays, type Refused } from './statement-days.ts'
import { statementFile } from './statement-file.ts'

const BATCH_SIZE = { rows: 1_000, bytes: 256 * 1024 }
const MAX_LISTED = 100
const MAX_NAMED = 3
const TEMPLATE = '/api/gateways/statement-template.csv'

type Uploaded = {
  statement_id: string
  rows: number
  valid_rows: number
  invalid_rows: number
  errors: { line: number; reason: string }[]
}
type StatementOf = { gateway: string; lender: string; fileName: string | null }

/**
 * Days count as complete only once the whole file has been read. What an interrupted upload has kept is listed and can be
 * withdrawn; the next upload replaces it.
 */
export async function uploadStatement(
  db: Database,
  of: StatementOf,
  file: AsyncIterable<Buffer>,
  asker: Asker,
): Promise<Uploaded> {
  const statement_id = newId()
  const { gateway, lender, fileName } = of
  const read = reader((rows, count) =>
    keepRows(db, { ...of, id: statement_id, by: asker.actor }, rows, count),
  )
  await readCsv(decode(file), BATCH_SIZE, read)
  const { rows, valid, days, refused, errors } = read.result
  if (rows === 0) throw noRows()
  if (valid === 0) throw noneValid(errors)
  const counts = { rows, valid_rows: valid, invalid_rows: rows - valid }
  await db.transaction().execute(async trx => {
    await sql`
      update core.statement_file set rows = ${rows}, valid_rows = ${valid} where id = ${statement_id}`.execute(
      trx,
    )
    await noteDays(trx, statement_id, days, refused)
    const detail = { gateway, lender, file_name: fileName, ...counts }
    await audit(trx, { ...asker, action: 'gateway.statement', subject: statement_id, detail })
  })
  return { statement_id, ...counts, errors }
}

function noneValid(errors: Uploaded['errors']) {
  const named = errors.slice(0, MAX_NAMED).map(({ line, reason }) => `line ${line}: ${reason}`)
  return new UnreadableFile(`The file has no valid row: ${named.join('; ')}`)
}

function reader(
  keep: (valid: CsvFields[], count: { rows: number; valid: number }) => Promise<string[]>,
) {
  let columns: string[] = []
  const lineOf = new Map<string, number>()
  const refused: Refused = { times: new Set(), isUndated: false }
  const errors: Uploaded['errors'] = []
  const result = { rows: 0, valid: 0, days: new Set<string>(), refused, errors }
  return {
    result,
    async header(cells: string[]) {
      columns = columnsOf(cells, statementFile, TEMPLATE)
    },
    async rows(batch: CsvRow[]) {
      result.rows += batch.length
      const valid = batch.flatMap(row => validRow(row))
      result.valid += valid.length
      if (valid.length > 0) for (const day of await keep(valid, result)) result.days.add(day)
    },
  }

  function validRow({ line, cells }: CsvRow): CsvFields[] {
    const misfit = misfitOf(cells, columns)
    const fields = readAmounts(fieldsOf(columns, cells.map(unescapeFormula)))
    const reasons = misfit === null ? statementErrors(fields) : [misfit]
    const id = fields.gateway_payment_id ?? ''
    if (reasons.length === 0 && lineOf.has(id))
      reasons.push(`gateway_payment_id repeats that of line ${lineOf.get(id)}`)
    if (reasons.length === 0) {
      lineOf.set(id, line)
      return [fields]
    }
    if (errors.length < MAX_LISTED) errors.push({ line, reason: reasons.join('; ') })
    if (misfit === null && isTime(fields.captured_at)) refused.times.add(fields.captured_at)
    else refused.isUndated = true
    return []
  }
}
