import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { CheckedRow } from '../kinds/kind.ts'

export type NewRow = CheckedRow & { line: number; cells: string[] }

/**
 * The statement has one array per column, which PostgreSQL reads fastest.
 * @param isRepeated whether an earlier attempt may have inserted some of the rows
 */
export async function insertRows(
  db: Database,
  migrationId: string,
  rows: NewRow[],
  isRepeated: boolean,
): Promise<void> {
  const column = (value: (row: NewRow) => string | null | undefined) =>
    arrayLiteral(rows.map(value))
  await sql`
    insert into loanops.migration_row (migration_id, line, state, cells, loan_external_id, client_external_id,
      client_fields, payment_key, receipt_number, on_date, disbursed_on, reason)
    select ${migrationId}, line, case when reason is null then 'valid' else 'invalid' end, cells, loan, client,
           client_fields::text[], payment, receipt, on_date, disbursed_on, reason
      from unnest(${column(row => String(row.line))}::integer[], ${column(row => JSON.stringify(row.cells))}::text[],
                  ${column(row => row.loanExternalId)}::text[], ${column(row => row.clientExternalId)}::text[],
                  ${column(row => row.clientFields && arrayLiteral(row.clientFields))}::text[],
                  ${column(row => row.paymentKey)}::text[], ${column(row => row.receiptNumber)}::text[],
                  ${column(row => row.onDate)}::date[],
                  ${column(row => row.disbursedOn)}::date[], ${column(reasonOf)}::text[])
        as t (line, cells, loan, client, client_fields, payment, receipt, on_date, disbursed_on, reason)
    ${isRepeated ? sql`on conflict do nothing` : sql``}`.execute(db)
}

const reasonOf = ({ errors }: NewRow) => (errors.length === 0 ? null : errors.join('; '))

const SPECIAL = /["\\]/
const EACH_SPECIAL = /["\\]/g

/** An array in PostgreSQL's text format, because pg builds its own more slowly, one value at a time. */
function arrayLiteral(values: (string | null | undefined)[]): string {
  let text = '{'
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (i > 0) text += ','
    if (value === null || value === undefined) text += 'NULL'
    else text += `"${SPECIAL.test(value) ? value.replace(EACH_SPECIAL, '\\$&') : value}"`
  }
  return `${text}}`
}
