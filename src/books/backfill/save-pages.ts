import { sql } from 'kysely'
import { crashPoint } from '../../crash-point.ts'
import type { Trx } from '../../database/database.ts'
import type {
  ApiPage,
  ApiPayment,
  Fetched,
  PaymentStatus,
  Unreadable,
} from '../../payments/gateways/gateway-api.ts'
import { GatewayUnavailable } from '../../payments/gateways/items/gateway-errors.ts'
import { isZero } from '../../payments/gateways/items/shape.ts'
import { inFixedOrder, saveEvents } from '../../payments/intake/save-events.ts'
import { type PaymentEvent, UNKNOWN } from '../../payments/payment-event.ts'
import { withNames } from '../apis/with-names.ts'
import { type WithStatus, withStatuses } from '../apis/with-statuses.ts'
import { fence } from './claim-backfill.ts'
import { type Fetch, isForWholeAccount, type LeftOut, unlessUnsaid } from './fetch.ts'
import { fetchedEvent, lenderInNotes, withKnownLenders } from './fetched-event.ts'
import { refundsBeyond } from './refunds-beyond.ts'
import { saveUnreadable } from './save-unreadable.ts'
import { unreportedOf, withUncaptured } from './unreported-of.ts'

/**
 * Saves pages in one transaction with the fetch's progress, so that a page that is read again finds what it stored.
 * @returns what the gateway did not say about a payment, refund or dispute, which was left out
 */
export async function savePages(fetch: Fetch, pages: ApiPage[], count: number) {
  const { db, account, claim } = fetch
  // A payment of zero registers a mandate, for which nothing is booked.
  const booked = pages.flatMap(({ payments }) => payments).filter(({ amount }) => !isZero(amount))
  const payments = await withStatuses(db, account.gateway, booked)
  const captured = payments.filter(({ status }) => status === 'captured' || status === 'refunded')
  await fetch.readPending()
  const { missing, unverified } = await unknownOf(fetch, captured)
  const leftOut: LeftOut = new Map()
  const beyond = await refundsBeyond(fetch, captured, leftOut)
  const missed = await eventsOf(fetch, missing, leftOut)
  const others = await eventsOf(fetch, unverified, leftOut)
  const nameless = await namelessOf(
    fetch,
    captured.filter(payment => !unverified.includes(payment)),
  )
  // Where the gateway does not name a loan, they stay as their webhooks have them. What it fails to say is asked again.
  const unnamed: LeftOut = new Map(leftOut)
  others.push(...(await eventsOf(fetch, nameless, unnamed)))
  const listed = pages.flatMap(({ returns }) => returns)
  const returns = await withUncaptured(fetch, listed, leftOut)
  const unreadable = pages.flatMap(({ unreadable }) => unreadable)
  unreadable.push(...payments.filter(({ status }) => status === null).map(withoutStatus))
  returns.push(...beyond.returns)
  unreadable.push(...beyond.unreadable)
  const reported = returns.map(returned => event(fetch, returned))
  others.push(...(await unreportedOf(db, account.gateway, reported)))
  const known = await withKnownLenders(fetch, others)

  const found = await db.transaction().execute(async trx => {
    await fence(trx, claim)
    const saved = await saveMissed(trx, missed)
    if (known.length > 0) await saveEvents(trx, known)
    if (payments.length > 0) await saveStatements(trx, fetch, payments)
    await saveUnreadable(trx, fetch, unreadable)
    await sql`
      update core.backfill set fetched = ${count}, missed = missed + ${saved}
       where id = ${claim.id}`.execute(trx)
    return saved
  })
  crashPoint('backfill.saved')
  if (found > 0) fetch.onMissed(found)
  const failed = [...unnamed.values()].filter(one => one instanceof GatewayUnavailable)
  const [unsaid] = [...leftOut.values(), ...failed, ...pages.flatMap(page => page.unsaid ?? [])]
  return unsaid
}

const withoutStatus = ({ id, item, paidAt, statusFields }: ApiPayment): Unreadable => ({
  kind: 'payment',
  item,
  reason: 'its status is not known',
  key: id,
  id,
  paymentId: id,
  mayBeMoney: true,
  statusFields,
  times: { from: paidAt, to: paidAt },
})

async function unknownOf({ db, claim, account }: Fetch, captured: ApiPayment[]) {
  const byId = new Map(captured.map(payment => [payment.id, payment]))
  const { rows } = await sql<{ id: string; known: boolean }>`
    select payment_id as id, known
      from core.unverified_payments(${claim.id}, ${account.gateway},
             ${[...byId.keys()]}::text[])`.execute(db)
  const those = (isKnown: boolean) =>
    rows.filter(({ known }) => known === isKnown).map(({ id }) => byId.get(id) as ApiPayment)
  return { missing: those(false), unverified: those(true) }
}

async function namelessOf({ db, account }: Fetch, payments: ApiPayment[]): Promise<ApiPayment[]> {
  const { rows } = await sql<{ id: string }>`
    select id
      from core.nameless_payments(${account.gateway},
             ${payments.map(({ id }) => id)}::text[]) id`.execute(db)
  const nameless = new Set(rows.map(({ id }) => id))
  return payments.filter(({ id }) => nameless.has(id))
}

async function eventsOf(fetch: Fetch, payments: ApiPayment[], leftOut: LeftOut) {
  const events: PaymentEvent[] = []
  for (const payment of payments.filter(({ id }) => !leftOut.has(id))) {
    const named = await unlessUnsaid(leftOut, payment.id, withNames(fetch.api, payment))
    if (named !== undefined) events.push(event(fetch, named))
  }
  return events
}

const event = (fetch: Fetch, fetched: Fetched) => fetchedEvent(fetch, fetch.claim.lender, fetched)

async function saveMissed(trx: Trx, missed: PaymentEvent[]): Promise<number> {
  let found = 0
  for (const [lender, events] of inFixedOrder(Map.groupBy(missed, ({ lender }) => lender))) {
    const repeats = await saveEvents(trx, events)
    const count = events.length - repeats.reduce((sum, one) => sum + one.count, 0)
    if (count > 0)
      await sql`
        insert into core.gateway_missed as m (gateway, lender, missed) values (${events[0]?.gateway}, ${lender}, ${count})
        on conflict (gateway, lender) do update
         set missed = m.missed + excluded.missed`.execute(trx)
    found += count
  }
  return found
}

/** The statuses that a statement keeps, from a payment's first to its last. */
const STATED: (PaymentStatus | null)[] = ['failed', 'captured', 'refunded']

async function saveStatements(trx: Trx, fetch: Fetch, payments: WithStatus<ApiPayment>[]) {
  const { account, claim } = fetch
  const stated = payments.filter(({ status }) => STATED.includes(status))
  // A payment may be listed twice. Its last copy is saved, unless that shows an earlier state.
  stated.sort((a, b) => STATED.indexOf(a.status) - STATED.indexOf(b.status))
  const byId = new Map(stated.map(payment => [payment.id, payment]))
  const said = [...byId.values()].map(
    ({ id, amount, currency, status, paidAt, fee, tax, item }) => ({
      id,
      lender: isForWholeAccount(fetch)
        ? (claim.lender ?? lenderInNotes(fetch, { kind: 'payment', item }))
        : UNKNOWN,
      asked_for: claim.lender,
      amount,
      currency,
      status,
      captured_at: paidAt,
      fee,
      tax,
    }),
  )
  await sql`
    select core.save_statements(${account.gateway}, 'api', null,
             ${JSON.stringify(said)}::jsonb)`.execute(trx)
}
