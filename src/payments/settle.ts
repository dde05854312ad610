import { sql } from 'kysely'
import type { Trx } from '../database/database.ts'

export async function settle(trx: Trx, payments: { id: string }[]): Promise<void> {
  await sql`
    select core.settle(gateway, array_agg(gateway_payment_id), has_news => false)
      from core.transaction where id = any(${payments.map(({ id }) => id)}::uuid[])
     group by gateway order by gateway`.execute(trx)
}
