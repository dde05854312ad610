import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { type Asker, audit } from '../../accounts/audit.ts'
import { type Database, inTransaction, type Row } from '../../database/database.ts'
import {
  IS_RESOLVABLE,
  RESOLUTIONS,
  RESOLVABLE,
  type Resolution,
  trackingId,
} from '../../engine/operation.ts'
import type { Origin } from '../../engine/origin.ts'
import { queueOf, wakesOf } from '../../engine/queue.ts'
import { oneOf } from '../../http/fields/schemas.ts'
import { Conflict } from '../../http/problem.ts'
import { insertJobs } from '../../queue/queue.ts'
import { UnknownTrackingId } from '../tracking-id.ts'

export const ResolvedAs = oneOf(RESOLUTIONS)

/** Saves a decision. The next attempt looks at the ledger first if something may have arrived; what it finds takes precedence. */
export async function resolveOperation(
  { db, boss }: { db: Database; boss: PgBoss },
  tracked: { operationType: string; id: string },
  outcome: Resolution,
  asker: Asker,
): Promise<void> {
  await inTransaction(db, async trx => {
    const { rows } = await sql<
      Row<'loanops.operation', 'subject'> & { origin: Origin; isHanging: boolean }
    >`
      select subject, origin, status = 'processing' and ${IS_RESOLVABLE} as "isHanging"
        from loanops.operation o
       where id = ${tracked.id} and operation_type = ${tracked.operationType}
         for update`.execute(trx)
    const [operation] = rows
    if (operation === undefined) throw new UnknownTrackingId()
    if (!operation.isHanging) {
      throw new Conflict(
        `Only an operation that waits for ${RESOLVABLE.slice(0, -1).join(', ')} or ${RESOLVABLE.at(-1)} can be resolved`,
      )
    }
    // Only under the old key does the ledger repeat its answer to a write that it applied: the attempt
    // gives the key up if that answer shows that it is useless. The key of a request that awaits approval
    // belongs to that request; a second "retry" before it is tried again asks for nothing else. A retry of what was
    // never sent has nothing to look for: if the look failed, its outcome would count as unknown.
    await sql`
      update loanops.operation
         set resolution = ${outcome}, look_first = look_first or ${outcome === 'failed'}, next_try_at = now(),
             key_generation = key_generation
               + (${outcome === 'retry'} and waiting_for is not distinct from 'ledger_approval'
                    and resolution is distinct from ${outcome})::integer
       where id = ${tracked.id}`.execute(trx)
    await insertJobs(boss, trx, queueOf(operation.origin), wakesOf([operation.subject]))
    await audit(trx, {
      ...asker,
      action: 'operation.resolve',
      subject: trackingId(tracked),
      detail: { outcome },
    })
  })
}
