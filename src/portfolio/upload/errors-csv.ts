import { sql } from 'kysely'
import { asCsv, BOM } from '../../csv/as-csv.ts'
import { REASON } from '../../csv/column.ts'
import { escapeFormula } from '../../csv/formula.ts'
import type { Database } from '../../database/database.ts'
import { cellsAsUploaded, type FileLayout, uploadedRows } from '../uploaded-rows.ts'

const isBad = sql`state in ('invalid', 'failed', 'stopped')`

/** The invalid rows of a file, to be corrected and uploaded again. */
export async function* errorsCsv(db: Database, layout: FileLayout): AsyncGenerator<string> {
  const { id, delimiter } = layout
  const { columns, cellsOf } = cellsAsUploaded(layout)
  yield (await hasMoreThanAscii(db, id)) ? BOM : ''
  // The reason gets its own column: in any other, it would become data of the row when the file is uploaded again.
  yield asCsv([[...columns, REASON]], delimiter)
  for await (const rows of uploadedRows(db, id, isBad))
    yield asCsv(
      rows.map(row => [...cellsOf(row), escapeFormula(row.reason ?? '')]),
      delimiter,
    )
}

async function hasMoreThanAscii(db: Database, id: string): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (select from loanops.migration_row
                    where migration_id = ${id} and ${isBad}
                      and (octet_length(cells) <> length(cells)
                           or octet_length(reason) <> length(reason))) as has`.execute(db)
  return rows[0]?.has === true
}
