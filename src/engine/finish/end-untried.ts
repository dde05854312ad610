import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import type { Trx } from '../../database/database.ts'
import { insertJobs } from '../../queue/queue.ts'
import { readyLoans } from '../claim/ready-loans.ts'
import { IS_UNTRIED, isClientSubject } from '../operation.ts'
import { liveQueue, queueOf, wakesOf } from '../queue.ts'
import type { Refusal } from '../refusal.ts'
import type { Final, OnFinal } from './finish.ts'
import { endAsRefused } from './take-back.ts'

/**
 * Ends an operation that was never attempted. Either this or the start of its attempt locks the row first and goes
 * ahead; the other then fails.
 * @returns what counts the end in metrics, to be called after the commit
 */
export async function endUntried(
  trx: Trx,
  { boss, onFinal }: { boss: PgBoss; onFinal: OnFinal },
  { operationType, id }: { operationType: string; id: string },
  reason: Refusal,
): Promise<(() => void) | 'tried' | 'unknown'> {
  const { rows } = await sql<Final['claim']>`
    select id, operation_type as "operationType", origin, subject, data from loanops.operation
     where id = ${id} and operation_type = ${operationType} for update`.execute(trx)
  const [claim] = rows
  if (claim === undefined) return 'unknown'
  if (!(await isUntried(trx, id))) return 'tried'
  const decision = await endAsRefused(trx, [id], reason)
  const final = [{ claim, decision }]
  const count = await onFinal.record(trx, final)
  const { subject, origin } = claim
  await insertJobs(boss, trx, queueOf(origin), wakesOf([subject]))
  const loans = isClientSubject(subject) ? await readyLoans(trx, [subject]) : []
  await insertJobs(boss, trx, liveQueue, wakesOf(loans))
  return () => {
    count()
    onFinal.note(final)
  }
}

/** This is a statement of its own: the one that waited for the row's lock would not see an attempt recorded meanwhile. */
async function isUntried(trx: Trx, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from loanops.operation o
     where id = ${id} and status = 'processing' and ${IS_UNTRIED}
       and (claimed_by is null or unstarted_attempt = attempt)`.execute(trx)
  return rows.length === 1
}
