import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { runBatch } from '../support/payments/payments.ts'
import { type Cluster, someApi } from './cluster.ts'

/** Seldom enough not to count as load. */
const ASK_EVERY_MS = 200

/** Once the faults are over, every operation must end within this: the longest back-off and a lease. */
const SETTLE_MS = 120_000

/** Runs batches until nothing is in progress any more. @returns how long that took */
export async function settled({ places }: Pick<Cluster, 'places'>, db: Database): Promise<number> {
  const from = Date.now()
  while (Date.now() - from < SETTLE_MS) {
    await runBatch(someApi(places)).catch(() => undefined)
    // Their retries would take days.
    await sql`
      update loanops.callback set next_try_at = now()
       where state = 'pending' and next_try_at > now() + interval '11 s'`.execute(db)
    const { rows } = await sql<{ open: boolean }>`
      select exists (select from loanops.operation where status = 'processing')
          or exists (select from core.transaction where state in ('waiting', 'posting'))
          or exists (select from loanops.callback where state = 'pending')
          or exists (select from core.pending_event)
          or exists (select from pgboss.job where name = 'payment-event' and state < 'completed') as open`.execute(
      db,
    )
    if (!rows[0]?.open) break
    await sleep(ASK_EVERY_MS)
  }
  return Date.now() - from
}
