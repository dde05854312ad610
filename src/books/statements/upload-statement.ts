import { sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import { decode } from '../../csv/decode.ts'
import { type CsvFields, fieldsOf, misfitOf } from '../../csv/fields.ts'
import { unescapeFormula } from '../../csv/formula.ts'
import { columnsOf } from '../../csv/header.ts'
import { readCsv } from '../../csv/read-csv.ts'
import type { CsvRow } from '../../csv/row-batches.ts'
import { noRows } from '../../csv/unreadable-file.ts'
import type { Database } from '../../database/database.ts'
import { newId } from '../../ids.ts'
import { statementErrors } from './check-statement-row.ts'
import { statementFile } from './statement-file.ts'

const BATCH_SIZE = { rows: 1_000, bytes: 256 * 1024 }
const MAX_LISTED = 100
const TEMPLATE = '/api/gateways/statement-template.csv'

type Uploaded = {
  statement_id: string
  rows: number
  valid_rows: number
  invalid_rows: number
  errors: { line: number; reason: string }[]
}
type StatementOf = { gateway: string; lender: string; timeZone: string }

/** Days count as complete only once the whole file has been read; the next upload completes an interrupted one. */
export async function uploadStatement(
  db: Database,
  of: StatementOf,
  file: AsyncIterable<Buffer>,
  asker: Asker,
): Promise<Uploaded> {
  const read = reader(db, of)
  await readCsv(decode(file), BATCH_SIZE, read)
  const { rows, valid, days, errors } = read.result
  if (rows === 0) throw noRows()
  const statement_id = newId()
  const counts = { rows, valid_rows: valid, invalid_rows: rows - valid }
  await db.transaction().execute(async trx => {
    await sql`
      select core.note_window(${of.gateway}, ${of.lender}, 'file',
               tstzrange(day::timestamp at time zone ${of.timeZone}, (day + 1)::timestamp at time zone ${of.timeZone}))
        from unnest(${[...days].sort()}::date[]) day order by day`.execute(trx)
    const detail = { gateway: of.gateway, lender: of.lender, ...counts }
    await audit(trx, { ...asker, action: 'gateway.statement', subject: statement_id, detail })
  })
  return { statement_id, ...counts, errors }
}

function reader(db: Database, of: StatementOf) {
  let columns: string[] = []
  const lineOf = new Map<string, number>()
  const result = { rows: 0, valid: 0, days: new Set<string>(), errors: [] as Uploaded['errors'] }
  return {
    result,
    async header(cells: string[]) {
      columns = columnsOf(cells, statementFile, TEMPLATE)
    },
    async rows(batch: CsvRow[]) {
      result.rows += batch.length
      const valid: CsvFields[] = []
      for (const { line, cells } of batch) {
        const fields = fieldsOf(columns, cells.map(unescapeFormula))
        const misfit = misfitOf(cells, columns)
        const errors = misfit === null ? statementErrors(fields) : [misfit]
        const id = fields.gateway_payment_id ?? ''
        if (errors.length === 0 && lineOf.has(id))
          errors.push(`gateway_payment_id repeats that of line ${lineOf.get(id)}`)
        if (errors.length === 0) {
          lineOf.set(id, line)
          valid.push(fields)
        } else if (result.errors.length < MAX_LISTED)
          result.errors.push({ line, reason: errors.join('; ') })
      }
      result.valid += valid.length
      for (const day of await keep(db, of, valid)) result.days.add(day)
    },
  }
}

async function keep(db: Database, of: StatementOf, rows: CsvFields[]): Promise<string[]> {
  if (rows.length === 0) return []
  const said = rows.map(({ gateway_payment_id: id, ...row }) => ({ ...row, id, lender: of.lender }))
  const { rows: days } = await sql<{ day: string }>`
    with kept as materialized (
      select core.keep_statements(${of.gateway}, 'file', ${JSON.stringify(said)}::jsonb))
    select distinct (captured_at at time zone ${of.timeZone})::date::text as day
      from kept cross join jsonb_to_recordset(${JSON.stringify(said)}::jsonb) as n (captured_at timestamptz)`.execute(
    db,
  )
  return days.map(({ day }) => day)
}
