import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import { Conflict } from '../../http/problem.ts'
import type { MigrationType } from '../kinds/kind.ts'
import { lockStarts } from './run-lock.ts'

const OTHERS_RUN = {
  loans: 'Repayments on its loans are on their way',
  repayments: 'Its loans are on their way',
}

/**
 * Loans and the repayments on them do not run side by side: a repayment that comes too early fails and stops its loan.
 * Holds back every other start until the transaction ends, so call it last before the run is marked as running.
 * @throws Conflict
 */
export async function refuseBesideOther(trx: Trx, id: string, type: MigrationType): Promise<void> {
  await lockStarts(trx)
  const { rows } = await sql<{ id: string }>`
    select m.id from loanops.migration m
     where m.type <> ${type} and m.status = 'running' and not m.is_dry_run
       and (${shareLoan('valid', 'valid')} or ${shareLoan('valid', 'running')}
         or ${shareLoan('running', 'valid')} or ${shareLoan('running', 'running')})
     limit 1`.execute(trx)
  if (rows[0]) throw new Conflict(`${OTHERS_RUN[type]}, in the migration ${rows[0].id}`)

  /** States are compared one by one, because each has its own index. */
  function shareLoan(mine: string, theirs: string) {
    return sql`exists (
      select from loanops.migration_row mine
        join loanops.migration_row theirs on theirs.loan_external_id = mine.loan_external_id
       where mine.migration_id = ${id} and mine.state = ${sql.lit(mine)}
         and theirs.migration_id = m.id and theirs.state = ${sql.lit(theirs)})`
  }
}
