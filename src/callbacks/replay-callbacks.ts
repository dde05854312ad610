import { type RawBuilder, sql } from 'kysely'
import { type Asker, audit } from '../accounts/audit.ts'
import type { Database, Trx } from '../database/database.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { rowById } from '../http/lists/row-by-id.ts'
import { type CallbackFilter, matchingCallbacks } from './find-callbacks.ts'
import { lockCallbacks } from './lock-callbacks.ts'

/** One that has no body yet is queued already, unless none could be built. */
export function resendCallback(db: Database, id: string, asker: Asker): Promise<void> {
  return inTransaction(db, async trx => {
    const known = sql`select from loanops.callback where id = ${id}`
    await rowById(trx, id, `No callback ${id}`, known)
    await queueAgain(trx, sql`id = ${id}`)
    await audit(trx, { ...asker, action: 'callback.resend', subject: id })
  })
}

export type Replay = CallbackFilter & { from: string; to: string; dry_run?: boolean }

export function replayCallbacks(db: Database, replay: Replay, asker: Asker): Promise<number> {
  const { dry_run: isDryRun = false, state = 'failed', ...filter } = replay
  const wanted = matchingCallbacks({ ...filter, state })
  return inTransaction(db, async trx => {
    if (isDryRun) return countOf(trx, wanted)
    const count = await queueAgain(trx, wanted)
    const detail = { ...filter, state, callbacks: count }
    await audit(trx, { ...asker, action: 'callback.replay', subject: 'callbacks', detail })
    return count
  })
}

async function countOf(trx: Trx, wanted: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from loanops.callback where ${wanted}`.execute(trx)
  return rows[0]?.count ?? 0
}

async function queueAgain(trx: Trx, wanted: RawBuilder<unknown>): Promise<number> {
  await lockCallbacks(trx)
  const { rows } = await sql<{ count: number; subjects: string[] }>`
    with queued as (
      update loanops.callback
         -- The failure of an attempt under way must not put off this one.
         set state = 'pending', claim = claim + 1, retries = 0, delivered_at = null, next_try_at = now()
       where ${wanted} and (body is not null or state = 'failed')
      returning subject
    )
    select count(*)::integer as count, coalesce(array_agg(distinct subject), '{}') as subjects from queued`.execute(
    trx,
  )
  const { count = 0, subjects = [] } = rows[0] ?? {}
  await sql`select loanops.choose_next_callbacks(${subjects})`.execute(trx)
  return count
}

export function resumeCallbacks(db: Database, asker: Asker): Promise<void> {
  return inTransaction(db, async trx => {
    await sql`
      update loanops.callback_receiver set stopped_at = null, failures = 0, next_probe_at = now()`.execute(
      trx,
    )
    await audit(trx, { ...asker, action: 'callback.resume', subject: 'callbacks' })
  })
}
