import { type RawBuilder, sql } from 'kysely'
import { type Asker, audit } from '../accounts/audit.ts'
import { type Database, inTransaction, type Trx } from '../database/database.ts'
import { rowById } from '../http/lists/row-by-id.ts'
import { type CallbackFilter, matchingCallbacks } from './find-callbacks.ts'
import { lockCallbacks } from './lock-callbacks.ts'

/** One that has no body yet is queued already, unless none could be built. */
export function resendCallback(db: Database, id: string, asker: Asker): Promise<void> {
  return inTransaction(db, async trx => {
    const known = sql`select from loanops.callback where id = ${id}`
    await rowById(trx, id, `No callback ${id}`, known)
    await queueAgain(trx, sql`id = ${id}`, FIRST)
    await audit(trx, { ...asker, action: 'callback.resend', subject: id })
  })
}

export type Replay = CallbackFilter & { from: string; to: string; dry_run?: boolean }

/** Few enough that a slice takes a tenth of what a statement may, and holds up the numbering of callbacks for no longer. */
const PER_SLICE = 2_000
/** A caller waits for the answer, and may ask for the rest. */
const WITHIN_MS = 10_000

/** `next_from`: when the first callback was created that is still to be replayed; null if none are left. */
export type Replayed = { callbacks: number; next_from: string | null }

export async function replayCallbacks(
  db: Database,
  { dry_run: isDryRun = false, state = 'failed', ...filter }: Replay,
  asker: Asker,
): Promise<Replayed> {
  const wanted = matchingCallbacks({ ...filter, state }, 'INVALID_PAYLOAD')
  if (isDryRun) return { callbacks: await countOf(db, wanted), next_from: null }
  const until = performance.now() + WITHIN_MS
  let callbacks = 0
  let after: Place | null = FIRST
  do {
    const from: Place = after
    const slice = await inTransaction(db, async trx => {
      const queued = await queueAgain(trx, wanted, from)
      const detail = { ...filter, state, callbacks: queued.count }
      await audit(trx, { ...asker, action: 'callback.replay', subject: 'callbacks', detail })
      return queued
    })
    callbacks += slice.count
    after = slice.last
  } while (after !== null && (db.isTransaction || performance.now() < until))
  return { callbacks, next_from: after && new Date(after.createdAt).toISOString() }
}

async function countOf(db: Database, wanted: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from loanops.callback where ${wanted}`.execute(db)
  return rows[0]?.count ?? 0
}

/** The place of a callback in the order of creation; times as JSON keep their microseconds. */
type Place = { createdAt: string; seq: string }
const FIRST: Place = { createdAt: '-infinity', seq: '0' }

/** @returns the place of the last one, and null once there are no more */
async function queueAgain(trx: Trx, wanted: RawBuilder<unknown>, { createdAt, seq }: Place) {
  await lockCallbacks(trx)
  const { rows } = await sql<{ count: number; subjects: string[]; last: Place | null }>`
    with slice as materialized (
      select id, created_at, seq from loanops.callback
       where ${wanted} and (body is not null or state = 'failed')
         and created_at >= ${createdAt}::timestamptz and (created_at, seq) > (${createdAt}::timestamptz, ${seq}::bigint)
       order by created_at, seq
       limit ${PER_SLICE}
    ), queued as (
      update loanops.callback
         -- The failure of an attempt under way must not put off this one.
         set state = 'pending', claim = claim + 1, retries = 0, delivered_at = null, next_try_at = now()
       where id = any(array(select id from slice))
      returning subject
    )
    select count(*)::integer as count, coalesce(array_agg(distinct subject), '{}') as subjects,
           (select json_build_object('createdAt', created_at, 'seq', seq::text) from slice
             order by created_at desc, seq desc limit 1) as last
      from queued`.execute(trx)
  const { count = 0, subjects = [], last = null } = rows[0] ?? {}
  await sql`select loanops.choose_next_callbacks(${subjects})`.execute(trx)
  return { count, last: count < PER_SLICE ? null : last }
}

export function resumeCallbacks(db: Database, asker: Asker): Promise<void> {
  return inTransaction(db, async trx => {
    await sql`
      update loanops.callback_receiver
       set stopped_at = null, failures = 0, next_probe_at = now()`.execute(trx)
    await audit(trx, { ...asker, action: 'callback.resume', subject: 'callbacks' })
  })
}
