import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { leaseEnd } from '../../database/lease.ts'

export type ClaimedCallback = {
  id: string
  claim: number
  body: string
  type: string
  traceparent: string | null
  retries: number
  dueAt: Date
  claimedAt: Date
  /** Whether the attempt is a probe ahead of the schedule, which then stays as it is. */
  isAhead: boolean
}

/** Earlier callbacks about the same payment have another subject if its loan has changed since. They go first. */
const isBehind = sql`c.type like 'payment.%' and exists (
  select from loanops.callback e
   where e.about = c.about and e.type like 'payment.%' and e.state || '' = 'pending' and e.seq < c.seq and e.subject <> c.subject)`
const waiting = sql`c.state = 'pending' and c.is_next and not (${isBehind})`

/** Claims due callbacks: one at a time, as a probe, while the receiver is down; none after it answered 410. */
export async function claimCallbacks(db: Database, max: number): Promise<ClaimedCallback[]> {
  const { rows } = await sql<{ state: 'up' | 'down' | 'stopped' }>`
    select loanops.receiver_state(r) as state from loanops.callback_receiver r`.execute(db)
  const state = rows[0]?.state
  if (state === 'up') return claimDue(db, max)
  return state === 'down' ? claimProbe(db) : []
}

/** Half of the first attempts are the newest: new callbacks do not wait for a backlog. */
function claimDue(db: Database, max: number): Promise<ClaimedCallback[]> {
  const due = (attempts: '= 0' | '> 0', order: string, limit: RawBuilder<unknown>) => sql`
    select id, next_try_at from loanops.callback c
     where ${waiting} and attempts ${sql.raw(attempts)} and next_try_at <= now()
     order by next_try_at ${sql.raw(order)} limit ${limit} for update skip locked`
  return claim(
    db,
    sql`newest as (${due('= 0', 'desc', sql`${Math.ceil(max / 2)}`)}),
        oldest as (${due('= 0', 'asc', sql`${max} - (select count(*) from newest)`)}),
        again as (${due('> 0', 'asc', sql`greatest(${max} - (select count(*) from newest) - (select count(*) from oldest), 1)`)}),
        -- A callback may be among both the newest and the oldest.
        chosen as (select * from newest union select * from oldest union select * from again)`,
  )
}

function claimProbe(db: Database): Promise<ClaimedCallback[]> {
  return claim(
    db,
    sql`probe as (
          update loanops.callback_receiver set next_probe_at = ${leaseEnd} where next_probe_at <= now() and stopped_at is null
          returning 1),
        chosen as (
          select id, next_try_at from loanops.callback c
           where ${waiting} and exists (select from probe)
           order by next_try_at > now(), attempts > 0, next_try_at limit 1 for update skip locked)`,
  )
}

async function claim(db: Database, chosen: RawBuilder<unknown>): Promise<ClaimedCallback[]> {
  const { rows } = await sql<ClaimedCallback>`
    with ${chosen}
    update loanops.callback c
       set claim = c.claim + 1, next_try_at = ${leaseEnd}
      from chosen
     where c.id = chosen.id
       -- The receiver may have answered 410 since its state was read.
       and exists (select from loanops.callback_receiver where stopped_at is null)
    returning c.id, c.claim, c.body, c.retries, c.type,
              (select traceparent from loanops.operation where id = c.about and c.type like 'operation.%') as traceparent,
              chosen.next_try_at as "dueAt", clock_timestamp() as "claimedAt",
              chosen.next_try_at > now() as "isAhead"`.execute(db)
  return rows
}

/** Skips locked rows until the next time: they are being recorded, and waiting for them could deadlock. */
export async function renewCallbacks(db: Database, claimed: ClaimedCallback[]): Promise<void> {
  if (claimed.length === 0) return
  await sql`
    with mine as (
      select * from json_to_recordset(${JSON.stringify(claimed.map(({ id, claim }) => ({ id, claim })))}) as (id uuid, claim integer)
    ), free as (
      select c.id from loanops.callback c join mine on mine.id = c.id and mine.claim = c.claim
       where c.state = 'pending'
         for no key update of c skip locked
    ), probing as (
      update loanops.callback_receiver r set next_probe_at = ${leaseEnd} where loanops.receiver_state(r) = 'down'
    )
    update loanops.callback c set next_try_at = ${leaseEnd}
      from free where c.id = free.id`.execute(db)
}
