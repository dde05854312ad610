import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'

/** The client named by the operation that created the loan or, if none has, by the last one that tried to. */
export async function clientOf(db: Database, loan: string): Promise<string | null> {
  const { rows } = await sql<{ client: string | null }>`
    select data ->> 'clientId' as client from loanops.operation
     where external_id = ${loan} and operation_type = 'LOAN_CREATE'
     order by status = 'success' desc, seq desc limit 1`.execute(db)
  return rows[0]?.client ?? null
}
