import { sql } from 'kysely'
import type { Test } from 'tap'
import type { GatewayName } from '../../../src/payments/gateways/gateways.ts'
import { freshDatabase } from '../database/fresh-database.ts'

/** Reads events with the gateway's base function. Nothing is stored, so all tests of a file share one database. */
export async function factReader(t: Test, gateway: GatewayName) {
  const { db } = await freshDatabase(t)
  return async (event: unknown): Promise<Record<string, unknown>[]> => {
    const text = typeof event === 'string' ? event : JSON.stringify(event)
    const body = Buffer.isBuffer(event) ? event : Buffer.from(text)
    const { rows } = await sql<Record<string, unknown>>`
      select kind, payment_id, of_payment_id, status, amount::text, currency, paid_at, external_loan_id, problem, hints
        from ${sql.table(`base.${gateway}`)}(${body})`.execute(db)
    return rows
  }
}
