import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import type { Final } from '../../engine/finish/finish.ts'
import { isUnsent, takeBackUnsent } from '../../engine/finish/take-back.ts'
import { lockRun } from './run-lock.ts'

type RowState = 'done' | 'failed' | 'stopped'

/** Operations waiting behind a refused row or client are removed before anyone can claim them. */
export async function finishRows(trx: Trx, ended: Final[]): Promise<Map<RowState, number>> {
  const ids = ended
    .filter(({ decision }) => decision.status === 'failed')
    .map(({ claim }) => claim.id)
  await lockRunsOf(trx, ids)
  const finished = await recordResults(trx, ended)
  if (ids.length > 0) {
    finished.push(...(await stopOthers(trx, ids)))
    await removeWaiting(trx, finished)
  }
  await countRows(trx, finished)
  const counts = new Map<RowState, number>()
  for (const { state } of finished) counts.set(state, (counts.get(state) ?? 0) + 1)
  return counts
}

/**
 * Locks the runs of rows. A failed row changes others, which a cancel or the next feed may be locking in an order of
 * their own.
 */
async function lockRunsOf(trx: Trx, operationIds: string[]): Promise<void> {
  if (operationIds.length === 0) return
  const { rows } = await sql<{ id: string }>`
    select distinct migration_id as id from loanops.migration_step
     where operation_id = any(${operationIds}) order by migration_id`.execute(trx)
  for (const { id } of rows) await lockRun(trx, id)
}

type FinishedRow = { migrationId: string; line: number; state: RowState }

async function recordResults(trx: Trx, ended: Final[]): Promise<FinishedRow[]> {
  const ends = ended.map(({ claim, decision }) => ({
    id: claim.id,
    error: decision.status === 'failed' ? decision.errorMessage : null,
  }))
  const rowsOfEnds = sql`
    with ended as (
      select s.migration_id, s.line, s.is_last, e.error
        from json_to_recordset(${JSON.stringify(ends)}) as e (id uuid, error text)
        join loanops.migration_step s on s.operation_id = e.id
    )`
  // Rows are locked in the order in which a cancel locks them, and by a statement of their own: one that waited for a cancel
  // would still see the steps which the cancel removed.
  await sql`${rowsOfEnds}
    select from ended join loanops.migration_row r using (migration_id, line)
     where r.state = 'running'
     order by r.migration_id, r.line for no key update of r`.execute(trx)
  const { rows } = await sql<Omit<FinishedRow, 'state'> & { state: string }>`${rowsOfEnds}
    update loanops.migration_row r
       set state = case
             when ended.error is not null then 'failed'
             when ended.is_last then 'done'
             when exists (select from loanops.migration_step s
                            join loanops.operation o on o.id = s.operation_id
                           where s.migration_id = r.migration_id and s.line = r.line and o.status = 'processing')
               then 'running'
             -- A cancel has removed the steps that would have followed.
             else 'valid'
           end,
           reason = ended.error
      from ended
     where r.migration_id = ended.migration_id and r.line = ended.line and r.state = 'running'
    returning r.migration_id as "migrationId", r.line, r.state`.execute(trx)
  return rows.filter(({ state }) => state === 'done' || state === 'failed') as FinishedRow[]
}

async function stopOthers(trx: Trx, operationIds: string[]): Promise<FinishedRow[]> {
  const { rows } = await sql<FinishedRow>`
    with failed as (
      select s.migration_id, s.line, row.on_date, o.subject, o.external_id, o.error_message
        from loanops.operation o
        join loanops.migration_step s on s.operation_id = o.id
        join loanops.migration_row row using (migration_id, line)
       where o.id = any(${operationIds})
    ), of_client as (
      update loanops.migration_row r
         set state = 'failed', reason = ${behindClient(sql`failed.error_message`)}
        from failed
       where failed.subject like 'client:%' and r.migration_id = failed.migration_id
         -- Rows that are not fed yet fail when they are: a client may have any number.
         and r.client_external_id = failed.external_id and r.line <> failed.line and r.state = 'running'
         -- Rows that an earlier run began do not wait for this client.
         and not ${isBegun}
      returning r.migration_id as "migrationId", r.line, r.state
    ), of_loan as (
      update loanops.migration_row r
         set state = 'stopped', reason = 'not tried, because line ' || failed.line || ' of the same loan failed'
        from failed
       cross join lateral (
         -- States are looked up one at a time, because each has its own index.
         select line from loanops.migration_row
          where migration_id = failed.migration_id and loan_external_id = failed.external_id and state = 'valid'
         union all
         select line from loanops.migration_row
          where migration_id = failed.migration_id and loan_external_id = failed.external_id and state = 'running') other
       where failed.subject like 'loan:%' and r.migration_id = failed.migration_id and r.line = other.line
         and r.state in ('valid', 'running')
         -- Rows before one that was cancelled do not depend on it.
         and (coalesce(r.on_date, 'infinity'), r.line) > (coalesce(failed.on_date, 'infinity'), failed.line)
         and not ${isBegun}
      returning r.migration_id as "migrationId", r.line, r.state
    )
    select * from of_client union all select * from of_loan`.execute(trx)
  return rows
}

export const behindClient = (error: RawBuilder<unknown>) => sql`'its client: ' || ${error}`

/** Whether the row has calls of its own: these decide how it ends. */
const isBegun = sql`exists (
  select from loanops.migration_step s
    join loanops.operation o on o.id = s.operation_id
   where s.migration_id = r.migration_id and s.line = r.line and o.status = 'processing' and not ${isUnsent})`

async function removeWaiting(trx: Trx, finished: FinishedRow[]) {
  const rows = finished.filter(({ state }) => state !== 'done')
  const waiting = sql`
    with ended as (
      select row.migration_id, row.line, row.client_external_id
        from json_to_recordset(${JSON.stringify(rows)}) as r ("migrationId" uuid, line integer)
        join loanops.migration_row row on row.migration_id = r."migrationId" and row.line = r.line
    ), step as (
      select s.* from ended join loanops.migration_step s using (migration_id, line)
      union
      -- The step of the client is another row's, perhaps of one that ended before.
      select s.*
        from (select distinct migration_id, 'client:' || client_external_id as subject from ended) c
        join loanops.operation o on o.subject = c.subject and o.status = 'processing'
        join loanops.migration_step s on s.operation_id = o.id and s.migration_id = c.migration_id
    )
    select o.id
      from step s
      join loanops.operation o on o.id = s.operation_id
      join loanops.migration m on m.id = s.migration_id
     -- All loans of a client share the operation that creates it, also those that the run has still to feed.
     where not exists (select from loanops.migration_row other
                        where o.subject like 'client:%' and other.client_external_id = o.external_id
                          and other.migration_id = s.migration_id
                          and (other.state = 'running' or other.state = 'valid' and m.status = 'running'))`
  await takeBackUnsent(trx, waiting)
}

/** Counts rows. Call it last, because others wait for the lock on the migration's row until we commit. */
export async function countRows(trx: Trx, finished: FinishedRow[]): Promise<void> {
  if (finished.length === 0) return
  await sql`
    update loanops.migration m
       set done = m.done + c.done, failed = m.failed + c.failed, stopped = m.stopped + c.stopped
      from (select "migrationId" as id,
                   count(*) filter (where state = 'done') as done,
                   count(*) filter (where state = 'failed') as failed,
                   count(*) filter (where state = 'stopped') as stopped
              from json_to_recordset(${JSON.stringify(finished)}) as r ("migrationId" uuid, state text)
             group by 1 order by 1) c
     where m.id = c.id`.execute(trx)
}
