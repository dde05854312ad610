import { hash } from 'node:crypto'
import { sql } from 'kysely'
import type { Database, Trx } from '../database/database.ts'

const CHANNEL = `pgboss_${hash('sha224', 'pgboss').slice(0, 24)}`

type Named = { name: string }

/**
 * Wakes the workers when the transaction commits. PostgreSQL commits one notifying transaction at a time: if callers
 * wait for the commit, use a waker.
 */
export async function wakeAtCommit(trx: Trx, { name }: Named): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, ${name})`.execute(trx)
}

/** A function that wakes the workers. A lost notification costs little, because workers also look by themselves. */
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
      // This transaction writes nothing, so its commit need not wait for the disk or a standby.
      await sql`
        select set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL}, ${name})`
        .execute(db)
        .catch(() => undefined)
    }
    isOnItsWay = false
  }
}
