import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { type PurgeRun, purgeInSteps } from '../../database/purge-in-steps.ts'
import { FIRST_ID } from '../../ids.ts'

/** A step of this many rows takes about 50 ms. */
const ROWS_AT_ONCE = 2_000

type Place = { id: string; attempt: number }
type Step = { purged: number; last: Place | null }
const FIRST_PLACE: Place = { id: FIRST_ID, attempt: 0 }

export const purgeAttempts: PurgeRun = (db, retentionDays, stopping) =>
  purgeInSteps(FIRST_PLACE, after => deleteNext(db, retentionDays, after), stopping)

/**
 * Steps are ordered by operation id, i.e. by age. Migration ids are not time-ordered and sort after today's, so all
 * of those are scanned.
 */
async function deleteNext(db: Database, retentionDays: number, { id, attempt }: Place) {
  const { rows } = await sql<Step>`
    with bound as (
      select core.first_id_at(now() - ${retentionDays} * interval '1 day') as old, core.first_id_at(now() + interval '1 day') as migrated
    ), next as materialized (
      (select a.operation_id, a.attempt, a.ended_at
         from loanops.operation_attempt a
        where (a.operation_id, a.attempt) > (${id}::uuid, ${attempt}::integer) and a.operation_id < (select old from bound)
        order by a.operation_id, a.attempt limit ${ROWS_AT_ONCE})
      union all
      (select a.operation_id, a.attempt, a.ended_at
         from loanops.operation_attempt a
        where (a.operation_id, a.attempt) > (${id}::uuid, ${attempt}::integer) and a.operation_id >= (select migrated from bound)
        order by a.operation_id, a.attempt limit ${ROWS_AT_ONCE})
      limit ${ROWS_AT_ONCE}
    ), gone as (
      delete from loanops.operation_attempt a
       using next join loanops.operation o on o.id = next.operation_id
       where (a.operation_id, a.attempt) = (next.operation_id, next.attempt)
         and next.ended_at < now() - ${retentionDays} * interval '1 day' and o.status <> 'processing'
      returning a.attempt
    )
    select (select count(*)::integer from gone) as purged,
           (select json_build_object('id', operation_id, 'attempt', attempt) from next
             order by operation_id desc, attempt desc limit 1) as last`.execute(db)
  return rows[0] as Step
}
