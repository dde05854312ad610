import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { PaymentEvent } from '../../payments/payment-event.ts'

/** Those of the events of refunds and disputes that say what no verified event has reported; none that is no reversal. */
export async function unreportedOf(
  db: Database,
  gateway: string,
  events: PaymentEvent[],
): Promise<PaymentEvent[]> {
  if (events.length === 0) return []
  const bodies = events.map(({ body }) => body)
  const { rows } = await sql<{ place: string }>`
    select place from core.unreported(${gateway}, ${bodies}::text[]) place order by place`.execute(
    db,
  )
  return rows.map(({ place }) => events[Number(place) - 1] as PaymentEvent)
}
