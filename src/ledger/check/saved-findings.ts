import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Finding } from './finding.ts'

/** The findings of the last check, by whichever process. */
export async function savedFindings(db: Database) {
  const { rows } = await sql<Finding & { checkedAt: Date }>`
    select "check", nullif(lender, '') as lender, state, found, expected, remedy, checked_at as "checkedAt"
      from loanops.ledger_finding order by place`.execute(db)
  const findings = rows.map(({ checkedAt: _, ...finding }) => finding)
  return { checkedAt: rows[0]?.checkedAt ?? null, findings }
}

/** Whether a check in this time found the login right: another process may have a password that this one does not have. */
export async function isLoginFoundRight(db: Database, withinMs: number): Promise<boolean> {
  const { rows } = await sql`
    select from loanops.ledger_finding
     where "check" = 'credentials' and state = 'ok'
       and checked_at > clock_timestamp() - ${withinMs} * interval '1 millisecond'`.execute(db)
  return rows.length > 0
}
