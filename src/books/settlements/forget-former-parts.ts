import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'

type Part = {
  settlementId: string | undefined
  kind: string
  id: string | undefined
  formerly?: string | null | undefined
  paidOut?: string | null | undefined
}

/** Deletes the rows in which earlier versions stored these parts under other ids, so that none counts twice. */
export async function forgetFormerParts(trx: Trx, gateway: string, parts: Part[]): Promise<void> {
  const renamed = parts.filter(({ formerly }) => formerly != null)
  if (renamed.length === 0) return
  await sql`
    delete from core.settlement_row r
     using jsonb_to_recordset(${JSON.stringify(renamed)}::jsonb) as n ("settlementId" text, kind text, id text, formerly text,
             "paidOut" numeric)
     where r.gateway = ${gateway} and r.settlement_id = n."settlementId" and r.kind = n.kind and r.id <> n.id
       and case n.kind when 'refund' then r.id = n.formerly
           else starts_with(r.id, n.formerly) and r.paid_out is not distinct from n."paidOut"
                -- Later ids have the minute in UTC.
                and split_part(substr(r.id, length(n.formerly) + 1), ' ', 1) !~ '^.{16}Z$' end`.execute(
    trx,
  )
}
