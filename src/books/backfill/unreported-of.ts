import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { ApiReturn, Fetched } from '../../payments/gateways/gateway-api.ts'
import { type PaymentEvent, UNKNOWN } from '../../payments/payment-event.ts'
import { type Fetch, type LeftOut, unlessUnsaid } from './fetch.ts'
import { fetchedEvent } from './fetched-event.ts'

/** The events that report something new about a refund or dispute. Anything else is left out. */
export async function unreportedOf(db: Database, gateway: string, events: PaymentEvent[]) {
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

/**
 * Adds to each new refund its payment, if that was never captured: gateway A's refunds do not say so themselves. Most payments
 * are reported as captured by a verified event, and are not fetched. A refund whose payment the gateway does not show is left out.
 */
export async function withUncaptured(fetch: Fetch, returns: ApiReturn[], leftOut: LeftOut) {
  const { db, api, account, claim } = fetch
  if (api.uncaptured === undefined || returns.length === 0) return returns
  const bodies = returns.map(returned => fetchedEvent(fetch, UNKNOWN, returned).body)
  const { rows } = await sql<{ place: string; id: string }>`
    select place, f.of_payment_id as id
      from core.unreported(${account.gateway}, ${bodies}::text[]) place
     cross join lateral ${sql.id('base', account.gateway)}(decode((${bodies}::text[])[place], 'base64')) f
     cross join lateral core.unverified_payments(${claim.id}, ${account.gateway}, array[f.of_payment_id])
     where f.kind = 'refund' and f.status = 'done' and f.of_payment_id is not null
     order by place`.execute(db)
  const whole: (Fetched | undefined)[] = [...returns]
  for (const { place, id } of rows) {
    const at = Number(place) - 1
    const payment = await unlessUnsaid(leftOut, id, api.uncaptured(id))
    if (payment !== undefined) whole[at] = { ...(returns[at] as ApiReturn), payment }
    else if (leftOut.has(id)) whole[at] = undefined
  }
  return whole.filter(one => one !== undefined)
}
