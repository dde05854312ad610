import { sql } from 'kysely'
import type { Database } from '../../../src/database/database.ts'
import { endExpiredClaims } from '../../../src/engine/finish/expire.ts'
import { openQueue } from '../../../src/queue/queue.ts'

/** Expires a dead process's leases and its jobs' heartbeats, to skip the wait for them. */
export async function expireLeases(db: Database): Promise<void> {
  for (const runs of ['core.batch_run', 'core.readback_run'])
    await sql`
      update ${sql.table(runs)} set claimed_until = now() where status = 'running'`.execute(db)
  await sql`
    update core.backfill set claimed_until = now() - interval '1 second'
     where claimed_until is not null`.execute(db)
  await sql`
    update pgboss.job set state = 'retry', start_after = now()
     where state = 'active'`.execute(db)
  await sql`
    update loanops.operation set claimed_until = now() - interval '1 second'
     where claimed_by is not null`.execute(db)
}

type Databased = { db: Database; databaseUrl: string }

/** Expires every claim, and ends it as a live worker would. */
export async function endClaims(service: Databased): Promise<void> {
  await expireLeases(service.db)
  await lookForExpired(service)
}

/** Ends the expired claims as a live worker would. @returns the milliseconds after which it would look again */
export async function lookForExpired({ db, databaseUrl }: Databased): Promise<number> {
  const boss = openQueue(databaseUrl, { isWorker: false, name: 'test', onError() {} })
  await boss.start()
  const lookAfterMs = await endExpiredClaims(db, boss, 0)
  await boss.stop({ graceful: false })
  return lookAfterMs
}
