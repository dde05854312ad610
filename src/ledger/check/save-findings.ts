import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Finding } from './finding.ts'

export type Change = Finding & { before: Finding['state'] | null }

/** @returns the findings whose state has changed */
export function saveFindings(db: Database, findings: Finding[]): Promise<Change[]> {
  return db.transaction().execute(async trx => {
    // Checks save one after the other: each replaces all that was found before.
    await sql`lock table loanops.ledger_finding in share row exclusive mode`.execute(trx)
    const { rows: before } = await sql<Pick<Finding, 'check' | 'lender' | 'state'>>`
      select "check", lender, state from ops.ledger_finding`.execute(trx)
    const stateBefore = ({ check, lender }: Finding) =>
      before.find(one => one.check === check && one.lender === lender)?.state ?? null
    await sql`
      with found as (
        select "check", coalesce(lender, '') as lender, place, state, found, expected, remedy
          from json_to_recordset(${JSON.stringify(findings.map((one, place) => ({ ...one, place })))}::json)
            as one ("check" text, lender text, place integer, state text, found text, expected text, remedy text)
      ), gone as (
        delete from loanops.ledger_finding old
         where not exists (select from found f where f."check" = old."check" and f.lender = old.lender)
      )
      insert into loanops.ledger_finding as old
             ("check", lender, place, state, found, expected, remedy, checked_at)
      select f."check", f.lender, f.place, f.state, f.found, f.expected, f.remedy, clock_timestamp()
        from found f
      on conflict ("check", lender) do update
         set place = excluded.place, state = excluded.state, found = excluded.found, expected = excluded.expected,
             remedy = excluded.remedy, checked_at = excluded.checked_at,
             since = case when old.state = excluded.state then old.since
                          else excluded.since end`.execute(trx)
    return findings
      .map(one => ({ ...one, before: stateBefore(one) }))
      .filter(({ state, before }) => state !== before)
  })
}
