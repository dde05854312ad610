import type { FastifyError } from 'fastify'
import { sql } from 'kysely'
import type { Asker } from '../../accounts/audit.ts'
import { crashPoint } from '../../crash-point.ts'
import type { Database, Trx } from '../../database/database.ts'
import { inSavepoint } from '../../database/in-savepoint.ts'
import type { WorkerContext } from '../../engine/feature.ts'
import { problemOf } from '../../http/problem.ts'
import { asError } from '../../log/log.ts'
import { type Job, startLoop } from '../../queue/job.ts'
import { markStopped } from './bulk-store.ts'
import { DECISIONS, type DecisionName, type Item } from './decisions.ts'

/** Somebody watches the progress of a bulk decision. */
const LOOK_EVERY_MS = 2_000

type Place = { id: string; number: number }
type Next = Place & {
  item: Item
  decision: DecisionName
  note: string | null
  actor: string
  address: string | null
  requestId: string | null
  approval: Asker['approval'] | null
  /** The reason why the actor's account may not decide; null if it may. */
  standing: string | null
}

/** One transaction locks an item, decides it and records that it is done, so each is decided exactly once. */
export function runBulks(context: WorkerContext): Job {
  const { db, log } = context
  /** Items that cannot be decided now wait for the next round, so that they hold up no others. */
  let after: Place | undefined
  const onError = asError(log, 'bulk decisions interrupted; retrying')
  return startLoop({ everyMs: LOOK_EVERY_MS, onError }, async () => {
    if (await workOnNext(context, after, at => (after = at))) return 0
    after = undefined
    await endCompleted(db)
    return LOOK_EVERY_MS
  })
}

async function workOnNext(
  context: WorkerContext,
  after: Place | undefined,
  onBegin: (at: Place) => void,
): Promise<boolean> {
  const afterwards: (() => void)[] = []
  const isDone = await context.db.transaction().execute(async trx => {
    const next = await nextItem(trx, after)
    if (next === undefined) return false
    onBegin(next)
    const reason =
      next.standing === null
        ? await decideItem({ ...context, db: trx }, next, work => afterwards.push(work))
        : await stopBulkOf(trx, next)
    crashPoint('bulk.decided')
    await sql`
      update loanops.bulk_item set outcome = ${reason === null ? 'done' : 'refused'}, reason = ${reason}
       where bulk_id = ${next.id} and number = ${next.number}`.execute(trx)
    return true
  })
  for (const work of afterwards) work()
  if (isDone) crashPoint('bulk.recorded')
  return isDone
}

async function nextItem(trx: Trx, after: Place | undefined): Promise<Next | undefined> {
  const { rows } = await sql<Next>`
    select b.id, i.number, i.item, b.decision, b.note, b.actor, host(b.address) as address, b.request_id as "requestId", b.approval,
           (select case when a.disabled_at is not null then 'disabled' else 'now a ' || a.role end from loanops.account a
             where lower(a.username) = lower(b.actor) and (a.disabled_at is not null or not loanops.may_do(a.role, 'bulk'))) as standing
      from loanops.bulk b
      join loanops.bulk_item i on i.bulk_id = b.id and i.outcome is null
     where b.status = 'running'
       and (${after?.id ?? null}::uuid is null or (b.id, i.number) > (${after?.id ?? null}, ${after?.number ?? null}))
     order by b.id, i.number
     limit 1
       for update of i skip locked`.execute(trx)
  return rows[0]
}

/** An account that is disabled or becomes a viewer decides no further. @returns why the item is refused */
async function stopBulkOf(trx: Trx, { id, actor, standing }: Next): Promise<string> {
  await markStopped(trx, id)
  return `Stopped: the account ${actor} is ${standing}`
}

/** @returns why the item was refused; null if it was decided @throws errors that may be temporary */
async function decideItem(
  context: WorkerContext & { db: Trx },
  next: Next,
  afterCommit: (work: () => void) => void,
): Promise<string | null> {
  const { id, number, item, decision, note, actor, address, requestId, approval } = next
  const asker = { actor, caller: null, address, requestId, ...(approval && { approval }) }
  try {
    const made = { note, asker, afterCommit }
    await inSavepoint(context.db, () => DECISIONS[decision].decide(context, item, made))
    return null
  } catch (error) {
    const { status, detail } = problemOf(error as FastifyError)
    if (status === 503) throw error
    // An item that fails so would fail again, and delay all decisions behind it.
    if (status >= 500)
      context.log.error(
        { err: error, reqId: requestId, bulk: id, item: number },
        'an item could not be decided',
      )
    return detail
  }
}

/** An item that another worker has locked is not decided yet. */
async function endCompleted(db: Database): Promise<void> {
  await sql`
    update loanops.bulk b set status = 'completed', ended_at = clock_timestamp()
     where status = 'running'
       and not exists (select from loanops.bulk_item
                        where bulk_id = b.id and outcome is null)`.execute(db)
}
