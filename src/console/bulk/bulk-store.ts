import { type RawBuilder, sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import type { Database } from '../../database/database.ts'
import { Conflict, NotFound } from '../../http/problem.ts'
import { newId } from '../../ids.ts'
import type { DecisionName } from './decisions.ts'

/** More at once nobody can have looked at; and each is one transaction. */
export const MOST_AT_ONCE = 10_000
const MOST_REASONS = 10

export type Bulk = {
  id: string
  decision: DecisionName
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

/** Exactly how many match; more than MOST_AT_ONCE count as one more. */
export async function countItems(db: Database, items: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (${items} limit ${MOST_AT_ONCE + 1}) matching`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}

type NewBulk = { decision: DecisionName; filter: object; note: string | null; count: number }

/** Records the decision with exactly the rows that were counted. @returns its id @throws Conflict if they are others by now */
export function createBulk(
  db: Database,
  wanted: NewBulk,
  items: RawBuilder<unknown>,
  asker: Asker,
): Promise<string> {
  const { decision, filter, note, count } = wanted
  const id = newId()
  return db.transaction().execute(async trx => {
    await sql`
      insert into loanops.bulk (id, decision, filter, note, actor, address, request_id)
      values (${id}, ${decision}, ${JSON.stringify(filter)}, ${note}, ${asker.actor}, ${asker.address}, ${asker.requestId})`.execute(
      trx,
    )
    const { numAffectedRows = 0n } = await sql`
      insert into loanops.bulk_item (bulk_id, number, item)
      select ${id}, row_number() over (), item from (${items} limit ${MOST_AT_ONCE + 1}) matching`.execute(
      trx,
    )
    if (Number(numAffectedRows) !== count)
      throw new Conflict(
        `${count} matched when you looked, and now it is ${numAffectedRows}: look again`,
      )
    await audit(trx, {
      ...asker,
      action: 'bulk.start',
      subject: id,
      detail: { decision, filter, note, count },
    })
    return id
  })
}

/** @throws NotFound */
export async function findBulk(db: Database, id: string): Promise<Bulk> {
  const { rows } = await sql<Bulk>`
    select b.id, b.decision, b.note, b.actor, b.status, b.created_at as "createdAt", b.ended_at as "endedAt",
           i.total, i.done, i.refused,
           (select coalesce(json_agg(r), '[]') from (
              select reason, count(*)::integer as count from loanops.bulk_item
               where bulk_id = b.id and outcome = 'refused' group by reason order by 2 desc limit ${MOST_REASONS}) r) as reasons
      from loanops.bulk b
     cross join lateral (
       select count(*)::integer as total, (count(*) filter (where outcome = 'done'))::integer as done,
              (count(*) filter (where outcome = 'refused'))::integer as refused
         from loanops.bulk_item where bulk_id = b.id) i
     where b.id = ${id}`.execute(db)
  if (rows[0] === undefined) throw new NotFound('There is no such decision')
  return rows[0]
}

/** What is decided stays decided; nothing more is begun. */
export function stopBulk(db: Database, id: string, asker: Asker): Promise<void> {
  return db.transaction().execute(async trx => {
    const { numAffectedRows } = await sql`
      update loanops.bulk set status = 'stopped', ended_at = now() where id = ${id} and status = 'running'`.execute(
      trx,
    )
    if (numAffectedRows === 0n) throw new Conflict('It is not running')
    await audit(trx, { ...asker, action: 'bulk.stop', subject: id })
  })
}
