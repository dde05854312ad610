import { sql } from 'kysely'
import type { Test } from 'tap'
import { freshDatabase } from '../database/fresh-database.ts'

/** One source on a database of its own, without a service: events go in, and batches are run by hand. */
export async function sourceOf(t: Test, gateway: 'gateway_a' | 'gateway_b') {
  const { db } = await freshDatabase(t)
  const source = `lender_02_${gateway}`
  await sql`select raw.make_store('LENDER_02', ${gateway})`.execute(db)
  await sql`select raw.register(${source})`.execute(db)
  return {
    db,
    /** Saves events in this order, each with the type that it names. */
    async save(...events: object[]) {
      for (const event of events) {
        const { type, event: flat } = event as { type?: string; event?: string }
        const body = Buffer.from(JSON.stringify(event))
        await sql`
          insert into ${sql.table(`raw.${source}`)} (event_type, body) values (${type ?? flat ?? null}, ${body})`.execute(
          db,
        )
      }
    },
    transform: async () => {
      await sql`select core.transform(${source}, 10000)`.execute(db)
    },
    /** The fate of each payment, refund and chargeback: its kind, id, state and reason. */
    async fates() {
      const { rows } = await sql<{ fate: string }>`
        select concat_ws(' ', kind, gateway_payment_id, state, reason) as fate
          from core.transaction order by received_at, kind desc, gateway_payment_id`.execute(db)
      return rows.map(({ fate }) => fate)
    },
    /** How often each type came, and how it is taken. */
    async types() {
      const { rows } = await sql<{ type: string }>`
        select concat_ws(' ', event_type, taken, events) as type
          from ops.event_type where source = ${source} order by event_type`.execute(db)
      return rows.map(({ type }) => type)
    },
  }
}
