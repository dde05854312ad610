import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import type { Unreadable } from '../../payments/gateways/gateway-api.ts'
import { saveEvents } from '../../payments/intake/save-events.ts'
import type { PaymentEvent } from '../../payments/payment-event.ts'
import { storableJson } from '../../text/storable.ts'
import { withStatuses } from '../apis/with-statuses.ts'
import type { Fetch } from './fetch.ts'
import { eventOfApi, lenderInNotes } from './fetched-event.ts'

const EVENT_TYPE = 'loanops.unreadable'

/**
 * Stores each unreadable item once, however often it is listed, as an event that the next batch puts in suspense if
 * it may be money.
 */
export async function saveUnreadable(trx: Trx, fetch: Fetch, unreadable: Unreadable[]) {
  if (unreadable.length === 0) return
  const { account, claim } = fetch
  const known = await knownPayments(trx, fetch, unreadable)
  const byKey = new Map(
    (await withStatuses(trx, account.gateway, unreadable)).map(({ status, ...one }) => {
      const mayBeMoney = one.mayBeMoney && status !== 'failed' && status !== 'pending'
      const hides = mayBeMoney && !known.has(one.paymentId)
      return [`${hides ? 'money' : one.kind} ${one.key}`, { ...one, mayBeMoney, hides }]
    }),
  )
  const said = [...byKey].map(([key, { kind, id, reason, mayBeMoney, times }]) => {
    return { key, id, reason, is_payment: mayBeMoney && kind === 'payment', ...times }
  })
  const { rows } = await sql<{ key: string }>`
    select key
      from core.save_unreadable(${account.gateway}, ${claim.lender}, ${claim.id},
             ${storableJson(said)}::jsonb) key`.execute(trx)
  const events = rows.map(({ key }) => {
    const one = byKey.get(key)
    return eventOf(fetch, one as Unreadable & { hides: boolean })
  })
  if (events.length > 0) await saveEvents(trx, events)
}

async function knownPayments(trx: Trx, { account, claim }: Fetch, unreadable: Unreadable[]) {
  const ids = unreadable.flatMap(({ paymentId, kind }) =>
    paymentId === null || kind !== 'payment' ? [] : [paymentId],
  )
  const { rows } = await sql<{ id: string }>`
    select payment_id as id
      from core.unverified_payments(${claim.id}, ${account.gateway}, ${ids}::text[]) p
     -- A payment that was also listed readably is known, though no batch has read its event yet.
     where not exists (select from core.statement s
                        where s.gateway_payment_id = p.payment_id and s.gateway = ${account.gateway} and s.source = 'api'
                          and s.status <> 'failed')`.execute(trx)
  const unknown = new Set(rows.map(({ id }) => id))
  return new Set<string | null>(ids.filter(id => !unknown.has(id)))
}

function eventOf(
  fetch: Fetch,
  { kind, item, reason, paymentId, hides }: Unreadable & { hides: boolean },
): PaymentEvent {
  const { gateway, claim } = fetch
  const lender = claim.lender ?? lenderInNotes(fetch, { kind: 'payment', item })
  return eventOfApi(gateway, lender, EVENT_TYPE, {
    event: EVENT_TYPE,
    may_be_money: hides,
    kind,
    reason,
    // An operator who posts the event posts it as this payment.
    [kind === 'refund' || kind === 'dispute' ? 'of_payment_id' : 'payment_id']: paymentId,
    item,
  })
}
