import { sql } from 'kysely'
import { asCsv, BOM } from '../../csv/as-csv.ts'
import { REASON } from '../../csv/column.ts'
import { escapeFormula } from '../../csv/formula.ts'
import type { Database } from '../../database/database.ts'
import type { Row } from '../../database/row.ts'

const ROWS_AT_ONCE = 1_000
/** A row may have 100,000 characters. The first row is read whatever its size. */
const BYTES_AT_ONCE = 256 * 1024

export type Layout = { id: string; columns: string[]; delimiter: string }

export async function* errorsCsv(db: Database, layout: Layout): AsyncGenerator<string> {
  const { id, columns, delimiter } = layout
  const reasonAt = columns.indexOf(REASON)
  const dataColumns = reasonAt === -1 ? columns.length : columns.length - 1
  yield (await hasMoreThanAscii(db, id)) ? BOM : ''
  yield asCsv([withReason(columns, REASON)], delimiter)
  for (let after = 0; ; ) {
    const { rows } = await sql<Row<'loanops.migration_row', 'line' | 'cells' | 'reason'>>`
      select line, cells, reason
        from (select line, cells, reason,
                     sum(octet_length(cells)) over (order by line) - octet_length(cells) as bytes_before
                from loanops.migration_row
               where migration_id = ${id} and state in ('invalid', 'failed', 'stopped') and line > ${after}
               order by line limit ${ROWS_AT_ONCE}) next
       where bytes_before < ${BYTES_AT_ONCE}
       order by line`.execute(db)
    const last = rows.at(-1)
    if (last === undefined) return
    const lines = rows.map(row =>
      withReason(JSON.parse(row.cells) as string[], row.reason ?? '').map(escapeFormula),
    )
    yield asCsv(lines, delimiter)
    after = last.line
  }

  /** The reason gets its own column: in any other, it would become data of the row when the file is uploaded again. */
  function withReason(cells: string[], reason: string): string[] {
    const uploaded = withoutReason(cells)
    const missing = Array<string>(Math.max(0, dataColumns - uploaded.length)).fill('')
    return [...uploaded, ...missing, reason]
  }

  /** In a row with too many cells, an errors file has the reason after all of them. */
  function withoutReason(cells: string[]): string[] {
    if (reasonAt === -1) return cells
    const isBehind = reasonAt === dataColumns && cells.length > columns.length
    return cells.toSpliced(isBehind ? -1 : reasonAt, 1)
  }
}

async function hasMoreThanAscii(db: Database, id: string): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (select from loanops.migration_row
                    where migration_id = ${id} and state in ('invalid', 'failed', 'stopped')
                      and (octet_length(cells) <> length(cells) or octet_length(reason) <> length(reason))) as has`.execute(
    db,
  )
  return rows[0]?.has === true
}
