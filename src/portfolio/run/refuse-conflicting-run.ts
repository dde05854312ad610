import { sql } from 'kysely'
import type { Row, Trx } from '../../database/database.ts'
import { Conflict } from '../../http/problem.ts'
import { typesApartFrom } from '../kinds/kinds.ts'
import { lockStarts } from './run-lock.ts'

/** Call it last: no other run can start until the transaction ends. @throws Conflict */
export async function refuseConflictingRun(trx: Trx, id: string, type: string): Promise<void> {
  await lockStarts(trx)
  const { rows } = await sql<Row<'loanops.migration', 'id' | 'type'>>`
    select m.id, m.type from loanops.migration m
     where m.type = any(${typesApartFrom(type)}) and m.status = 'running' and not m.is_dry_run
       and (${shareLoan('valid', 'valid')} or ${shareLoan('valid', 'running')}
         or ${shareLoan('running', 'valid')} or ${shareLoan('running', 'running')})
     limit 1`.execute(trx)
  const [other] = rows
  if (other)
    throw new Conflict(
      `Migration ${other.id} is running ${other.type} on the same loans: wait until it ends`,
    )

  /** Pairs of states are looked up one at a time, because each state has its own index. */
  function shareLoan(mine: string, theirs: string) {
    return sql`exists (
      select from loanops.migration_row mine
        join loanops.migration_row theirs on theirs.loan_external_id = mine.loan_external_id
       where mine.migration_id = ${id} and mine.state = ${sql.lit(mine)}
         and theirs.migration_id = m.id and theirs.state = ${sql.lit(theirs)})`
  }
}
