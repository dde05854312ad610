import { sql } from 'kysely'
import type { Fetched, FoundPayment } from '../../payments/gateways/gateway-api.ts'
import { UnexpectedAnswer } from '../../payments/gateways/items/gateway-errors.ts'
import type { PaymentEvent } from '../../payments/payment-event.ts'
import type { PaymentKind } from '../../payments/payment-record.ts'
import type { Inquiry } from '../apis/open-gateway-api.ts'
import { withNames } from '../apis/with-names.ts'
import { withStatuses } from '../apis/with-statuses.ts'
import { fetchedEvent } from '../backfill/fetched-event.ts'
import { unreportedOf } from '../backfill/unreported-of.ts'

/** How many orders one batch searches for a payment, so that a flood of events cannot multiply our calls. */
export const MAX_REFS = 5

type Ref = { key: string; orderId: string | null; paymentId: string | null }
/** `refs`: at most one more than one batch searches, those not yet `asked` first. */
export type Question = { kind: PaymentKind; id: string; refs: Ref[]; asked: string[] }
type QuestionByRef = Pick<Question, 'kind' | 'id'> & { ref: Ref }

export type Confirmation = {
  outcome: 'confirmed' | 'denied'
  said: string | null
  events: PaymentEvent[]
  asked: string[]
  has_more: boolean
}

export async function ask(
  inquiry: Inquiry,
  { kind, id, refs, asked }: Question,
): Promise<Confirmation> {
  const fresh = refs.filter(({ key }) => !asked.includes(key))
  const chosen = (fresh.length > 0 ? fresh : refs).slice(0, MAX_REFS)
  const has_more = fresh.length > MAX_REFS
  let said = 'no event reports it any longer'
  for (const ref of chosen) {
    const found = await look(inquiry, { kind, id, ref })
    if (typeof found === 'string') said = found
    else {
      const event = eventOf(inquiry, found.fetched)
      const denial = await denialOf(inquiry, { kind, id, ref }, event)
      if (denial === null) {
        const events = [event, ...(await refundsOf(inquiry, found.payment))]
        return { outcome: 'confirmed', said: null, events, asked: [], has_more: false }
      }
      said = denial
    }
  }
  const names = chosen.map(({ key }) => key)
  return {
    outcome: 'denied',
    said,
    events: [],
    asked: has_more ? [...asked, ...names] : [],
    has_more,
  }
}

const ABSENT = 'the gateway does not have it'

/** `payment`: only where a payment was asked about. */
type Found = { fetched: Fetched; payment?: FoundPayment }

async function look(
  inquiry: Inquiry,
  { kind, id, ref: { orderId, paymentId } }: QuestionByRef,
): Promise<Found | string> {
  const { api, gateway } = inquiry
  if (gateway.client.isQueriedByOrder && orderId === null && kind !== 'chargeback')
    return 'no event names its order, without which the gateway cannot be asked'
  if (kind === 'payment') return lookForPayment(inquiry, id, orderId)
  if (paymentId === null) return 'no event names its payment'
  if (kind === 'refund') {
    const refund = await api.refund(id, paymentId, orderId)
    return refund === undefined ? ABSENT : { fetched: { kind, ...refund } }
  }
  const item = await api.dispute(id, paymentId)
  return item === undefined ? ABSENT : { fetched: { kind: 'dispute', item } }
}

async function lookForPayment(
  { db, api, gateway }: Inquiry,
  id: string,
  orderId: string | null,
): Promise<Found | string> {
  const payment = await api.payment(id, orderId)
  if (payment === undefined) return ABSENT
  const [stated] = await withStatuses(db, gateway.name, [payment])
  if (stated?.status !== 'captured' && stated?.status !== 'refunded')
    return 'the gateway has not captured it'
  return { fetched: await withNames(api, payment), payment }
}

/** The webhooks of the payment's refunds may be lost, and the batch is about to post the payment. */
async function refundsOf(inquiry: Inquiry, payment?: FoundPayment): Promise<PaymentEvent[]> {
  if (payment === undefined) return []
  const { returns, unreadable } = await inquiry.api.refundsOf(payment)
  // The payment must not be posted while nobody knows what was refunded.
  if (unreadable[0] !== undefined) throw new UnexpectedAnswer(unreadable[0].reason)
  const events = returns.map(returned => eventOf(inquiry, returned))
  return unreportedOf(inquiry.db, inquiry.gateway.name, events)
}

const eventOf = (inquiry: Inquiry, fetched: Fetched) =>
  fetchedEvent(inquiry, inquiry.account.lender, fetched)

async function denialOf(
  { db, gateway }: Inquiry,
  { kind, id, ref: { orderId } }: QuestionByRef,
  { body }: PaymentEvent,
) {
  const { rows } = await sql<{ denial: string | null }>`
    select core.denial_of(${gateway.name}, ${kind}, ${id}, ${gateway.client.isQueriedByOrder ? orderId : null},
             decode(${body}, 'base64')) as denial`.execute(db)
  return rows[0]?.denial ?? null
}
