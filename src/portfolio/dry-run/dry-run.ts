import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { keepRenewing, leaseEnd } from '../../database/lease.ts'
import { asJson } from '../../http/as-json.ts'
import { newId } from '../../ids.ts'
import { rowKindOf } from '../kinds/kinds.ts'
import { markProgress } from '../mark-progress.ts'
import type { DryRun } from '../migration-record.ts'
import { type DryRunner, lookUntilRead } from './look-until-read.ts'
import { rowsOfLoan } from './rows-of-loan.ts'

/** Findings are saved after this many loans. If a worker dies, they are checked again. */
const LOANS_AT_ONCE = 20
const MAX_FINDINGS_LISTED = 100

const me = newId()

export async function dryRun(db: Database, runner: DryRunner, id: string, stopping: AbortSignal) {
  const leased = await lease(db, id)
  if (leased === undefined) return false
  const { type, columns, lookedUpTo } = leased
  const kind = rowKindOf(runner.kinds.values(), type)
  await markProgress(db, id)
  const loans = await nextLoans(db, id, lookedUpTo)
  const last = loans.at(-1)
  if (last === undefined) {
    await summarize(db, id)
    return false
  }
  // A lost lease goes unnoticed: at worst, two workers check the same loans.
  const renewal = keepRenewing(() => lease(db, id))
  try {
    const looks = await Promise.allSettled(
      loans.map(async loan => {
        const rows = await rowsOfLoan(db, { id, kind, columns }, loan)
        return lookUntilRead(runner, { loan, kind, rows }, stopping)
      }),
    )
    // An error is thrown only after all looks have settled, so that none goes on reading in the background.
    const findings = looks.flatMap(one => {
      if (one.status === 'rejected') throw one.reason
      return one.value
    })
    await saveFindings(db, id, { from: lookedUpTo, to: last }, findings)
  } finally {
    renewal.stop()
  }
  return true
}

type Leased = { type: string; columns: string[]; lookedUpTo: string }

/** @returns undefined if another worker has the lease or the dry run has ended */
async function lease(db: Database, id: string): Promise<Leased | undefined> {
  const { rows } = await sql<Leased>`
    update loanops.migration
       set worked_by = ${me}, worked_until = ${leaseEnd}
     where id = ${id} and status = 'running' and is_dry_run
       and (worked_by is null or worked_by = ${me} or worked_until < now())
    returning type, columns, coalesce(looked_up_to, '') as "lookedUpTo"`.execute(db)
  return rows[0]
}

async function nextLoans(db: Database, id: string, lookedUpTo: string): Promise<string[]> {
  const { rows } = await sql<{ loan: string }>`
    select loan_external_id as loan from loanops.migration_row
     where migration_id = ${id} and loan_external_id > ${lookedUpTo} and state = 'valid'
     group by loan_external_id order by loan_external_id limit ${LOANS_AT_ONCE}`.execute(db)
  return rows.map(({ loan }) => loan)
}

/** If the dry run was cancelled and restarted meanwhile, its progress does not move past the earlier loans. */
async function saveFindings(
  db: Database,
  id: string,
  loans: { from: string; to: string },
  findings: object[],
) {
  await db.transaction().execute(async trx => {
    await sql`
      update loanops.migration_row r set finding = f.finding, finding_reason = f.reason
        from json_to_recordset(${JSON.stringify(findings)}) as f (line integer, finding text, reason text)
       where r.migration_id = ${id} and r.line = f.line`.execute(trx)
    await sql`
      update loanops.migration
         set looked_up_to = ${loans.to},
             looked_at = case when looked_up_to is null then 0 else looked_at end + ${findings.length}::integer
       where id = ${id} and worked_by = ${me}
         and coalesce(looked_up_to, '') = ${loans.from}`.execute(trx)
  })
}

async function summarize(db: Database, id: string) {
  const { rows } = await sql<{ ended_at: Date }>`
    select (select started_at from loanops.migration where id = ${id}) as started_at, clock_timestamp() as ended_at,
           (count(*) filter (where finding = 'new'))::integer as would_change,
           (count(*) filter (where finding = 'in_ledger'))::integer as in_ledger,
           (count(*) filter (where finding = 'differs'))::integer as differs,
           (count(*) filter (where finding = 'refused'))::integer as refused,
           (count(*) filter (where finding = 'unknown'))::integer as unknown,
           (select coalesce(json_agg(listed order by line), '[]') from (
              select line, loan_external_id as external_loan_id, finding, finding_reason as reason
                from loanops.migration_row
               where migration_id = ${id} and finding in ('differs', 'refused', 'unknown')
               order by line limit ${MAX_FINDINGS_LISTED}) listed) as findings
      from loanops.migration_row where migration_id = ${id}`.execute(db)
  const summary = rows[0] as { ended_at: Date }
  await sql`
    update loanops.migration
       set status = 'uploaded', ended_at = ${summary.ended_at}, worked_by = null,
           dry_run = ${JSON.stringify(asJson<DryRun>(summary))}::json
     where id = ${id} and status = 'running' and is_dry_run and worked_by = ${me}`.execute(db)
}
