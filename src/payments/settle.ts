import { sql } from 'kysely'
import type { Trx } from '../database/database.ts'

/** Decides again what these payments are, because refunds and other events may have arrived in the meantime. */
export async function settle(trx: Trx, payments: { id: string }[]): Promise<void> {
  await sql`
    select core.settle(gateway, array_agg(gateway_payment_id), false)
      from core.transaction where id = any(${payments.map(({ id }) => id)}::uuid[])
     group by gateway`.execute(trx)
}
