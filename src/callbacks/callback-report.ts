import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Ask } from '../ops/health.ts'

const MAX_COUNTED = 1_000

type Callbacks = { failed: number; receiver: 'up' | 'down' | 'stopped' }

/** The callbacks' part of readyz; null while none are sent, or the database does not answer. */
export async function callbackReport(ask: Ask): Promise<{ callbacks: Callbacks | null }> {
  return { callbacks: await ask(readCallbacks, null) }
}

async function readCallbacks(db: Database): Promise<Callbacks | null> {
  const { rows } = await sql<Callbacks>`
    select (select count(*)::integer from (
             select from loanops.callback where state = 'failed' limit ${MAX_COUNTED}) f) as failed,
           loanops.receiver_state(r) as receiver
      from loanops.callback_receiver r where types <> '{}'`.execute(db)
  return rows[0] ?? null
}
