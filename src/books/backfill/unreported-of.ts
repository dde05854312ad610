import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { PaymentEvent } from '../../payments/payment-event.ts'

/** The events that report something new about a refund or dispute. Anything else is left out. */
export async function unreportedOf(
  db: Database,
  gateway: string,
  events: PaymentEvent[],
): Promise<PaymentEvent[]> {
  if (events.length === 0) return []
  const bodies = events.map(({ body }) => body)
  const { rows } = await sql<{ place: string; times: string }>`
    select place, core.times_answered(${gateway}, (${bodies}::text[])[place]) as times
      from core.unreported(${gateway}, ${bodies}::text[]) place order by place`.execute(db)
  return rows.map(({ place, times }) => {
    const event = events[Number(place) - 1] as PaymentEvent
    // The gateway's answer may change back to an earlier one. With an id of its own, the equal body is not a repeat.
    return times === '0' ? event : { ...event, eventId: `loanops-${times}` }
  })
}
