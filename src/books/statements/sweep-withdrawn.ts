import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { inSteps } from '../../database/in-steps.ts'
import type { WorkerContext } from '../../engine/feature.ts'
import { asError } from '../../log/log.ts'
import { type Job, startLoop } from '../../queue/job.ts'

/** Nobody waits for the deletion: the rows of a withdrawn file do not count any more. */
const EVERY_MS = 2_000
/** Deleting this many rows takes some 50 ms, in which payments cannot be settled. */
const ROWS_AT_ONCE = 2_000

export function runWithdrawals({ patient, log }: Pick<WorkerContext, 'patient' | 'log'>): Job {
  const onError = asError(log, 'the rows of a withdrawn report could not be deleted; retrying')
  return startLoop({ everyMs: EVERY_MS, onError }, stopping => sweepWithdrawn(patient, stopping))
}

/** Deletes the rows of withdrawn files. What a stop or a crash leaves is deleted by the next sweep. */
export async function sweepWithdrawn(db: Database, stopping?: AbortSignal): Promise<void> {
  const { rows: files } = await sql<{ id: string }>`
    select id from core.statement_file f
     where withdrawn_at is not null
       and (exists (select from core.statement s where s.statement_id = f.id)
            or exists (select from core.settlement_row r where r.statement_id = f.id)
            or exists (select from core.statement s where s.settled_by @> array[f.id] and s.settled_by <> '{}')
            or exists (select from core.lost_part l where l.files @> array[f.id]))`.execute(db)
  for (const { id } of files) await inSteps(true, () => deleteSome(db, id), stopping)
}

async function deleteSome(db: Database, id: string): Promise<true | null> {
  const { rows } = await sql<{ more: boolean }>`
    select core.delete_rows_of(${id}, ${ROWS_AT_ONCE}) as more`.execute(db)
  return rows[0]?.more ? true : null
}
