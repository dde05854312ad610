import { sql } from 'kysely'
import type { Database, Row } from '../../database/database.ts'

/** @param clients subjects of clients whose operation has just ended @returns subjects of the loans that waited for them alone */
export async function readyLoans(db: Database, clients: string[]): Promise<string[]> {
  const { rows } = await sql<
    Row<'loanops.operation', 'subject'>
  >`${loansReadyAfter(clients)}`.execute(db)
  return rows.map(({ subject }) => subject)
}

export const loansReadyAfter = (clients: string[]) => sql`
      select distinct o.subject
        from unnest((select ${clients}::text[])) as client (subject)
        left join lateral (
          select seq from loanops.operation
           where subject = client.subject and status = 'processing'
           order by seq limit 1) next on true
       cross join lateral (
          select subject from loanops.operation
           where waits_for = client.subject and status = 'processing'
             and claimed_by is null and (next.seq is null or seq < next.seq)
          offset 0) o`
