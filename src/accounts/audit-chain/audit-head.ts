import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'

/** The hash of everything sealed so far: a person who keeps it elsewhere can later prove that none of it changed. */
export type AuditHead = { id: string; chain: string }

export async function auditHead(db: Database): Promise<AuditHead | undefined> {
  const { rows } = await sql<AuditHead>`
    select audit_id as id, encode(chain, 'hex') as chain
      from loanops.audit_seal order by position desc limit 1`.execute(db)
  return rows[0]
}
