import type { FastifyError } from 'fastify'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { LEASE_SECONDS } from '../../database/lease.ts'
import type { WorkerContext } from '../../engine/feature.ts'
import { problemOf } from '../../http/problem.ts'
import type { Job } from '../../queue/job.ts'
import { startLoop } from '../../queue/loop.ts'
import { DECISIONS, type DecisionName, type Item } from './decisions.ts'

const LOOK_EVERY_MS = 2_000
/** Few enough to be decided well within the lease. */
const ITEMS_AT_ONCE = 10

type Claimed = {
  id: string
  decision: DecisionName
  note: string | null
  actor: string
  address: string | null
  requestId: string | null
}
type Left = { number: number; item: Item }

/**
 * Carries out decisions about many, one item after the other. If it dies after an item was decided and before that is
 * recorded, the item is decided again: that changes nothing more, or is refused because it no longer applies.
 */
export function workBulks(context: WorkerContext): Job {
  const { db, log } = context
  return startLoop(
    async stopping => ((await workOnce(context, db, stopping)) ? 0 : LOOK_EVERY_MS),
    {
      everyMs: LOOK_EVERY_MS,
      onError: error => log.error({ err: error }, 'decisions about many could not go on'),
    },
  )
}

/** @returns whether there may be more to do */
async function workOnce(
  context: WorkerContext,
  db: Database,
  stopping: AbortSignal,
): Promise<boolean> {
  const bulk = await claim(db)
  if (bulk === undefined) return false
  const { rows: left } = await sql<Left>`
    select number, item from loanops.bulk_item
     where bulk_id = ${bulk.id} and outcome is null order by number limit ${ITEMS_AT_ONCE}`.execute(
    db,
  )
  for (const one of left) {
    if (stopping.aborted) break
    const reason = await decided(context, bulk, one.item)
    await sql`
      update loanops.bulk_item set outcome = ${reason === null ? 'done' : 'refused'}, reason = ${reason}
       where bulk_id = ${bulk.id} and number = ${one.number}`.execute(db)
  }
  await sql`
    update loanops.bulk
       set claimed_until = now(),
           status = case when ${left.length} = 0 and status = 'running' then 'completed' else status end,
           ended_at = case when ${left.length} = 0 then coalesce(ended_at, now()) else ended_at end
     where id = ${bulk.id}`.execute(db)
  return true
}

async function claim(db: Database): Promise<Claimed | undefined> {
  const { rows } = await sql<Claimed>`
    update loanops.bulk set claimed_until = now() + make_interval(secs => ${3 * LEASE_SECONDS})
     where id = (select id from loanops.bulk where status = 'running' and claimed_until <= now()
                  order by id limit 1 for update skip locked)
    returning id, decision, note, actor, host(address) as address, request_id as "requestId"`.execute(
    db,
  )
  return rows[0]
}

/** @returns why it was refused; null if it was decided @throws what a later try may not meet */
async function decided(context: WorkerContext, bulk: Claimed, item: Item): Promise<string | null> {
  const { decision, note, actor, address, requestId } = bulk
  const asker = { actor, caller: null, address, requestId }
  try {
    await DECISIONS[decision].decide(context, item, { note, asker })
    return null
  } catch (error) {
    const { status, detail } = problemOf(error as FastifyError)
    if (status >= 500) throw error
    return detail
  }
}
