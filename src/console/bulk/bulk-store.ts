import { type RawBuilder, sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import { type Database, inTransaction, type Trx } from '../../database/database.ts'
import { rowById } from '../../http/lists/row-by-id.ts'
import { Conflict } from '../../http/problem.ts'
import type { DecisionName } from './decisions.ts'

/** Nobody can review more than this, and each takes its own transaction. */
export const MAX_BULK_ITEMS = 10_000
const MAX_REASONS = 10

export type Bulk = {
  id: string
  decision: DecisionName
  filter: Record<string, string>
  note: string | null
  actor: string
  status: 'running' | 'stopped' | 'completed'
  createdAt: Date
  endedAt: Date | null
  total: number
  done: number
  refused: number
  reasons: { reason: string; count: number }[]
}

export type CountedItems = { count: number; digest: string }
/** `greatest` is null if an item has no amount, or none that is known; `sum` also where currencies differ. */
type Measured = CountedItems & {
  greatest: string | null
  sum: string | null
  currency: string | null
}

/** Above MAX_BULK_ITEMS, counting stops at one more, and nobody needs the digest, which reads all facts about each item. */
export async function countItems(db: Database, items: RawBuilder<unknown>): Promise<CountedItems> {
  const some = sql`(${items} limit ${MAX_BULK_ITEMS + 1}) matching`
  const { rows: counted } = await sql<CountedItems>`
    select count(*)::integer as count, '' as digest from ${some}`.execute(db)
  const all = counted[0] ?? { count: 0, digest: '' }
  if (all.count > MAX_BULK_ITEMS) return all
  const { rows } = await sql<CountedItems>`
    select count(*)::integer as count, ${digest} as digest from ${some}`.execute(db)
  return rows[0] ?? all
}

export async function measureItems(db: Database, items: RawBuilder<unknown>): Promise<Measured> {
  const { rows } = await sql<Measured>`
    with measured as (
      select item, (item ->> 'amount')::numeric as amount, item ->> 'currency' as currency
        from (${items} limit ${MAX_BULK_ITEMS + 1}) matching
    )
    select count(*)::integer as count, ${digest} as digest, case when count(*) = count(amount) then max(amount)::text end as greatest,
           case when is_one then sum(amount)::text end as sum, case when is_one then min(currency) end as currency
      from measured
     cross join (select count(*) = count(currency) and count(distinct currency) = 1 as is_one from measured) one
     group by is_one`.execute(db)
  return rows[0] ?? { count: 0, digest: '', greatest: null, sum: null, currency: null }
}

const digest = sql`coalesce(md5(string_agg(item::text, ',' order by item::text)), '')`

export type NewBulk = {
  /** The id is generated for the confirmation page, so that its form makes one decision at most. */
  id: string
  decision: DecisionName
  filter: object
  note: string | null
  count: number
  digest: string
}

/** Whether this form, which may be sent again after a login, has made its decision. */
export async function isMade(
  db: Database,
  { id, decision, filter, note }: NewBulk,
  { actor }: Asker,
): Promise<boolean> {
  const { rows } = await sql`
    select from loanops.bulk
     where id = ${id} and actor = ${actor} and decision = ${decision} and filter = ${JSON.stringify(filter)}
       and note is not distinct from ${note}`.execute(db)
  return rows.length > 0
}

/** @throws Conflict if the matching rows have changed since they were counted, or the id has a decision already */
export function createBulk(
  db: Database,
  { id, decision, filter, note, count, digest: seen }: NewBulk,
  items: RawBuilder<unknown>,
  asker: Asker,
): Promise<void> {
  return inTransaction(db, async trx => {
    const { numAffectedRows: isNew = 0n } = await sql`
      insert into loanops.bulk (id, decision, filter, note, actor, address, request_id, approval)
      values (${id}, ${decision}, ${JSON.stringify(filter)}, ${note}, ${asker.actor}, ${asker.address}, ${asker.requestId},
              ${JSON.stringify(asker.approval ?? null)})
      on conflict do nothing`.execute(trx)
    if (isNew === 0n) throw new Conflict('This form was sent before: review the list again')
    await sql`
      insert into loanops.bulk_item (bulk_id, number, item)
      select ${id}, row_number() over (), item
       from (${items} limit ${MAX_BULK_ITEMS + 1}) matching`.execute(trx)
    const { rows } = await sql<CountedItems>`
      select count(*)::integer as count, ${digest} as digest from loanops.bulk_item
       where bulk_id = ${id}`.execute(trx)
    const now = rows[0]?.count
    if (now !== count)
      throw new Conflict(
        `${count} matched when you looked; now ${now} ${now === 1 ? 'does' : 'do'}: review the list again`,
      )
    if (rows[0]?.digest !== seen)
      throw new Conflict('The matching rows have changed since you looked: review the list again')
    await audit(trx, {
      ...asker,
      action: 'bulk.start',
      subject: id,
      detail: { decision, filter, note, count },
    })
  })
}

export async function readBulk(db: Database, id: string): Promise<Bulk> {
  const bulk = sql<Bulk>`
    select b.id, b.decision, b.filter, b.note, b.actor, b.status, b.created_at as "createdAt", b.ended_at as "endedAt",
           i.total, i.done, i.refused,
           (select coalesce(json_agg(r), '[]') from (
              select reason, count(*)::integer as count from loanops.bulk_item
               where bulk_id = b.id and outcome = 'refused' group by reason order by 2 desc limit ${MAX_REASONS}) r) as reasons
      from loanops.bulk b
     cross join lateral (
       select count(*)::integer as total, (count(*) filter (where outcome = 'done'))::integer as done,
              (count(*) filter (where outcome = 'refused'))::integer as refused
         from loanops.bulk_item where bulk_id = b.id) i
     where b.id = ${id}`
  return rowById(db, id, `No decision ${id}`, bulk)
}

/** @returns whether the decision was running */
export async function markStopped(trx: Trx, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update loanops.bulk set status = 'stopped', ended_at = clock_timestamp()
     where id = ${id} and status = 'running'`.execute(trx)
  return numAffectedRows === 1n
}

export function stopBulk(db: Database, id: string, asker: Asker): Promise<void> {
  return inTransaction(db, async trx => {
    if (!(await markStopped(trx, id))) throw new Conflict('This decision is not running')
    await audit(trx, { ...asker, action: 'bulk.stop', subject: id })
  })
}
