import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Log } from '../log.ts'
import type { Database } from './database.ts'
import { isTransient } from './transient.ts'

const ASK_EVERY_MS = 250
/** Longer than crash recovery takes for a database of this size; after that it is an outage, not a start. */
const READY_WITHIN_MS = 120_000

export async function untilReady(db: Database, log: Pick<Log, 'warn'>): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS
  for (let isFirst = true; ; isFirst = false) {
    try {
      await sql`select 1`.execute(db)
      return
    } catch (error) {
      if (performance.now() > until || !isTransient(error)) throw error
      if (isFirst) log.warn({ reason: (error as Error).message }, 'waiting for the database')
      await sleep(ASK_EVERY_MS)
    }
  }
}
