import createError from '@fastify/error'
import { sql } from 'kysely'
import { requireUploader } from '../../accounts/approvals/person.ts'
import { type Asker, audit } from '../../accounts/audit.ts'
import { crashPoint } from '../../crash-point.ts'
import type { Database, Trx } from '../../database/database.ts'
import { inTransaction } from '../../database/in-transaction.ts'
import type { ReadRow, Said, Settled } from '../../payments/gateways/report-format.ts'
import { forgetFormerParts } from '../settlements/forget-former-parts.ts'
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
export async function saveRows(
  db: Database,
  file: OpenFile,
  rows: ReadRow[],
  count: { rows: number; valid: number },
): Promise<string[]> {
  const { id, gateway, lender, fileName, asker } = file
  const said = JSON.stringify(saidIn(rows).map(row => ({ ...row, lender })))
  const settled = rows.flatMap(({ settled }) => settled ?? [])
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
    await sql`select core.save_statements(${gateway}, 'file', ${id}, ${said}::jsonb)`.execute(trx)
    if (settled.length > 0) await saveSettled(trx, file, settled)
    const { rows: days } = await sql<{ day: string }>`
      select distinct core.day_of(captured_at)::text as day
        from jsonb_to_recordset(${said}::jsonb) as n (captured_at timestamptz)`.execute(trx)
    return days.map(({ day }) => day)
  })
  crashPoint('statement.saved')
  return days
}

/** What the rows say about each payment: a report may name one as failed, and then as captured. */
function saidIn(rows: ReadRow[]): Said[] {
  const said = rows.flatMap(({ said }) => (said === null ? [] : [said]))
  const failedFirst = [
    ...said.filter(({ status }) => status === 'failed'),
    ...said.filter(({ status }) => status !== 'failed'),
  ].map(({ gateway_payment_id: id = '', ...row }) => ({ ...row, id }))
  return [...new Map(failedFirst.map(row => [row.id, row])).values()]
}

/** Saves parts of settlements; those that the gateway's API lists itself stay as they are. */
async function saveSettled(trx: Trx, { id, gateway, lender }: OpenFile, settled: Settled[]) {
  await forgetFormerParts(
    trx,
    gateway,
    settled.map(({ settlement_id, paid_out, ...part }) => {
      return { ...part, settlementId: settlement_id, paidOut: paid_out }
    }),
  )
  await sql`
    insert into core.settlement_row as r (gateway, settlement_id, kind, id, payment_id, lender, settled_at, utr, amount, fee,
      tax, paid_out, statement_id)
    select ${gateway}, n.settlement_id, n.kind, n.id, case n.kind when 'payment' then n.id end, ${lender}, n.settled_at, n.utr,
           n.amount, coalesce(n.fee, 0), coalesce(n.tax, 0), n.paid_out, ${id}
      from jsonb_to_recordset(${JSON.stringify(settled)}::jsonb) as n (kind text, id text, settlement_id text,
             settled_at timestamptz, utr text, amount numeric, fee numeric, tax numeric, paid_out numeric)
     order by n.settlement_id, n.kind, n.id
    on conflict (settlement_id, gateway, kind, id) do update
       set lender = excluded.lender, settled_at = excluded.settled_at, utr = excluded.utr, amount = excluded.amount,
           fee = excluded.fee, tax = excluded.tax, paid_out = excluded.paid_out, statement_id = excluded.statement_id,
           earlier_files = array_remove(r.earlier_files || r.statement_id, excluded.statement_id)
     where r.statement_id is not null`.execute(trx)
}
