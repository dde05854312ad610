import { sql } from 'kysely'
import { FIRST_ID } from '../../ids.ts'
import { lockSettling } from '../lock-settling.ts'
import type { Batch } from './batch.ts'

/** How many changes are looked up together: each look-up reads all payments that wait to be posted. */
const CHANGES_AT_ONCE = 5_000
const FOUND_AT_ONCE = 10_000
/** This many payments take some 100 ms, in which nobody else settles or decides about payments. */
const PAYMENTS_AT_ONCE = 250

type Changes = { gateway: string; keys: (string | null)[]; ids: string[] }

/**
 * Settles again the payments that a changed reference may release, keep back or give to another loan. After a crash,
 * the same changes are looked up again.
 */
export async function matchAgain(batch: Batch): Promise<void> {
  for (;;) {
    const changes = await nextChanges(batch)
    if (changes.length === 0) return
    for (const { gateway, keys, ids } of changes) {
      for (let after: string | null = FIRST_ID; after !== null; ) {
        batch.check()
        after = await settleNext(batch, gateway, keys, after)
      }
      await sql`
        delete from core.changed_reference where id = any(${ids}::bigint[])`.execute(batch.db)
    }
  }
}

async function nextChanges({ db }: Batch): Promise<Changes[]> {
  const { rows } = await sql<Changes>`
    select gateway, array_agg(distinct key) as keys, array_agg(id) as ids
      from (select * from core.changed_reference order by id limit ${CHANGES_AT_ONCE}) next
     group by gateway`.execute(db)
  return rows
}

/** @returns the last payment of those found, null at the end */
async function settleNext(batch: Batch, gateway: string, keys: Changes['keys'], after: string) {
  // This waits for whoever still settles with the old references; the look-up itself then delays nobody.
  await batch.db.transaction().execute(lockSettling)
  const { rows: found } = await sql<{ id: string; paymentId: string }>`
    select id, gateway_payment_id as "paymentId"
      from core.payments_to_match(${gateway}, ${keys}::text[], ${after},
             ${FOUND_AT_ONCE})`.execute(batch.db)
  for (let i = 0; i < found.length; i += PAYMENTS_AT_ONCE) {
    batch.check()
    const payments = found.slice(i, i + PAYMENTS_AT_ONCE).map(({ paymentId }) => paymentId)
    await batch.db.transaction().execute(async trx => {
      await lockSettling(trx)
      await sql`select core.settle(${gateway}, ${payments}::text[], has_news => true)`.execute(trx)
    })
  }
  return found.length < FOUND_AT_ONCE ? null : (found.at(-1)?.id ?? null)
}
