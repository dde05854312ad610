import { type RawBuilder, sql } from 'kysely'
import { REASON } from '../csv/column.ts'
import { escapeFormula } from '../csv/formula.ts'
import type { Database, Row } from '../database/database.ts'
import { withinBytes } from './within-bytes.ts'

const ROWS_AT_ONCE = 1_000
/** Rows are read by a range of lines, because a plan without one may read the whole table for each page of rows. */
const LINES_AT_ONCE = 10_000

export type FileLayout = { id: string; columns: string[]; delimiter: string }
export type UploadedRow = Row<
  'loanops.migration_row',
  'line' | 'cells' | 'state' | 'reason' | 'finding' | 'finding_reason'
>

/** The rows of a file, read a few at a time, in the order of the file. */
export async function* uploadedRows(
  db: Database,
  id: string,
  isWanted: RawBuilder<unknown>,
): AsyncGenerator<UploadedRow[]> {
  const end = await lastLine(db, id)
  for (let after = 0; after < end; ) {
    const upTo = after + LINES_AT_ONCE
    const { rows } = await sql<UploadedRow>`${withinBytes(sql`
      select line, cells, state, reason, finding, finding_reason from loanops.migration_row
       where migration_id = ${id} and ${isWanted} and line > ${after} and line <= ${upTo}::integer
       order by line limit ${ROWS_AT_ONCE}`)}`.execute(db)
    if (rows.length > 0) yield rows
    after = rows.at(-1)?.line ?? upTo
  }
}

async function lastLine(db: Database, id: string): Promise<number> {
  const { rows } = await sql<{ line: number | null }>`
    select max(line) as line from loanops.migration_row where migration_id = ${id}`.execute(db)
  return rows[0]?.line ?? 0
}

/** The cells as they were uploaded, without the column of reasons, which an errors file has when it is uploaded again. */
export function cellsAsUploaded({ columns }: FileLayout) {
  const reasonAt = columns.indexOf(REASON)
  const ofData = reasonAt === -1 ? columns : columns.toSpliced(reasonAt, 1)

  return {
    columns: ofData,
    /** The cells of a row, as many as there are columns, or more, safe to be opened in a spreadsheet. */
    cellsOf(row: Pick<UploadedRow, 'cells'>): string[] {
      const cells = withoutReason(JSON.parse(row.cells) as string[])
      const missing = Array<string>(Math.max(0, ofData.length - cells.length)).fill('')
      return [...cells, ...missing].map(escapeFormula)
    },
  }

  /** In a row with too many cells, an errors file has the reason after all of them. */
  function withoutReason(cells: string[]): string[] {
    if (reasonAt === -1) return cells
    const isBehind = reasonAt === ofData.length && cells.length > columns.length
    return cells.toSpliced(isBehind ? -1 : reasonAt, 1)
  }
}
