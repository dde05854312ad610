import createError from '@fastify/error'
import { sql } from 'kysely'
import type { CsvFields } from '../../csv/fields.ts'
import type { Database } from '../../database/database.ts'

type OpenFile = { id: string; gateway: string; lender: string; fileName: string | null; by: string }

const Withdrawn = createError('CONFLICT', 'The file was withdrawn while it was being uploaded', 409)

/** Together with the file's own row, so that whatever is kept can be withdrawn. @returns the days of the rows */
export function keepRows(
  db: Database,
  { id, gateway, lender, fileName, by }: OpenFile,
  rows: CsvFields[],
  count: { rows: number; valid: number },
): Promise<string[]> {
  const said = JSON.stringify(
    rows.map(({ gateway_payment_id: id, ...row }) => ({ ...row, id, lender })),
  )
  return db.transaction().execute(async trx => {
    const { rows: open } = await sql`
      insert into core.statement_file as f (id, gateway, lender, file_name, rows, valid_rows, uploaded_by)
      values (${id}, ${gateway}, ${lender}, ${fileName}, ${count.rows}, ${count.valid}, ${by})
      on conflict (id) do update set rows = excluded.rows, valid_rows = excluded.valid_rows where f.withdrawn_at is null
      returning id`.execute(trx)
    if (open.length === 0) throw new Withdrawn()
    await sql`select core.keep_statements(${gateway}, 'file', ${id}, ${said}::jsonb)`.execute(trx)
    const { rows: days } = await sql<{ day: string }>`
      select distinct core.day_of(captured_at)::text as day
        from jsonb_to_recordset(${said}::jsonb) as n (captured_at timestamptz)`.execute(trx)
    return days.map(({ day }) => day)
  })
}
