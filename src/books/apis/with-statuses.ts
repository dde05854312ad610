import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { PaymentStatus, StatusFields } from '../../payments/gateways/gateway-api.ts'
import { storableJson } from '../../text/storable.ts'

export type WithStatus<Item> = Item & { status: PaymentStatus | null }

/** The items with what the base model, which batches use, says about their money: null for a status it does not know. */
export async function withStatuses<Item extends { statusFields: StatusFields }>(
  db: Database,
  gateway: string,
  items: Item[],
): Promise<WithStatus<Item>[]> {
  if (items.length === 0) return []
  const fields = storableJson(items.map(({ statusFields }) => statusFields))
  const { rows } = await sql<{ status: PaymentStatus | null }>`
    select case said when 'never_captured' then 'failed' when 'uncollected' then 'pending' else said end as status
      from jsonb_array_elements(${fields}::jsonb) with ordinality f (fields, place)
     cross join lateral ${sql.id('base', `${gateway}_status`)}(fields) said
     order by place`.execute(db)
  return items.map((item, at) => ({ ...item, status: rows[at]?.status ?? null }))
}
