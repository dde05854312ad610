import createError from '@fastify/error'
import { sql } from 'kysely'
import { requireUploader } from '../../accounts/approvals/person.ts'
import { type Asker, audit } from '../../accounts/audit.ts'
import { crashPoint } from '../../crash-point.ts'
import { type Database, inTransaction } from '../../database/database.ts'
import type { ReadRow } from '../../payments/gateways/report-format.ts'
import { lastParts } from '../last-parts.ts'
import { useLedgerZone } from './statement-days.ts'

type OpenFile = {
  id: string
  gateway: string
  lender: string
  fileName: string | null
  asker: Asker
}

export const Withdrawn = createError(
  'CONFLICT',
  'The file was withdrawn while it was being uploaded',
  409,
)

/** Saves rows together with the file's own row, so that all of them can be withdrawn. @returns the days of the payments */
export async function saveStatementRows(
  db: Database,
  file: OpenFile,
  rows: ReadRow[],
  count: { rows: number; valid: number },
): Promise<string[]> {
  const { id, gateway, lender, fileName, asker } = file
  const said = JSON.stringify(saidIn(rows).map(row => ({ ...row, lender })))
  const parts = rows.flatMap(({ settled, ofPayout }) => [
    ...(settled === null ? [] : [settled]),
    ...(ofPayout === undefined ? [] : [{ ...ofPayout, is_of_payout: true }]),
  ])
  const settled = lastParts(parts)
  const days = await inTransaction(db, async trx => {
    await requireUploader(trx, asker)
    await useLedgerZone(trx)
    const { rows: open } = await sql<{ isNew: boolean }>`
      insert into core.statement_file as f (id, gateway, lender, file_name, rows, valid_rows, uploaded_by)
      values (${id}, ${gateway}, ${lender}, ${fileName}, ${count.rows}, ${count.valid}, ${asker.actor})
      on conflict (id) do update set rows = excluded.rows, valid_rows = excluded.valid_rows where f.withdrawn_at is null
      returning xmax = 0 as "isNew"`.execute(trx)
    if (open.length === 0) throw new Withdrawn()
    // These rows count even if the upload is interrupted, so the audit must name its uploader now.
    const entry = { ...asker, action: 'statement.begin', subject: id }
    if (open[0]?.isNew)
      await audit(trx, { ...entry, detail: { gateway, lender, file_name: fileName } })
    const named = (rows: string) => sql`core.with_settlement_ids(${gateway}, ${rows}::jsonb)`
    await sql`select core.save_statements(${gateway}, 'file', ${id}, ${named(said)})`.execute(trx)
    if (settled.length > 0)
      await sql`
        select core.save_settlement_rows(${gateway}, ${lender}, ${id},
          ${named(JSON.stringify(settled))})`.execute(trx)
    const { rows: days } = await sql<{ day: string }>`
      select distinct core.day_of(captured_at)::text as day
        from jsonb_to_recordset(${said}::jsonb) as n (captured_at timestamptz)`.execute(trx)
    return days.map(({ day }) => day)
  })
  crashPoint('statement.saved')
  return days
}

/** What the rows say about each payment: a report may name one as failed, and then as captured. */
function saidIn(rows: ReadRow[]) {
  const said = rows.flatMap(({ said, isEvent }) => {
    if (said === null) return []
    const { gateway_payment_id: id = '', status, ...row } = said
    return [{ ...row, id, status, is_event: isEvent }]
  })
  const failedFirst = [
    ...said.filter(({ status }) => status === 'failed'),
    ...said.filter(({ status }) => status !== 'failed'),
  ]
  return [...new Map(failedFirst.map(row => [row.id, row])).values()]
}
