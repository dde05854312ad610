import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Database, Trx } from '../database/database.ts'

/** pg-boss's workers listen here for the names of queues to fetch from. */
const CHANNEL = `pgboss_${createHash('sha224').update('pgboss').digest('hex').slice(0, 24)}`

type Named = { name: string }

/**
 * PostgreSQL lets one transaction with a notification commit at a time, flush included: if callers wait for
 * the commit, use a waker instead.
 */
export async function wakeAtCommit(trx: Trx, { name }: Named): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, ${name})`.execute(trx)
}

/**
 * One notification at a time; calls during it share the next. A lost one costs little, because workers also
 * look by themselves.
 */
export function openWaker(db: Database, { name }: Named): () => void {
  let isOnItsWay = false
  let isWanted = false

  return function wake() {
    isWanted = true
    if (!isOnItsWay) void notify()
  }

  async function notify(): Promise<void> {
    isOnItsWay = true
    while (isWanted) {
      isWanted = false
      // Nothing is written, so the commit need not wait for the disk or a standby.
      await sql`
        select set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL}, ${name})`
        .execute(db)
        .catch(() => undefined)
    }
    isOnItsWay = false
  }
}
