import type { ApiPage, ApiReturn, Unreadable, Window } from '../gateway-api.ts'
import { GatewayRefused, GatewayUnavailable } from '../items/gateway-errors.ts'
import { asUnreadable, itemIfReadable, UnreadableItem } from '../items/read-each.ts'
import { shape } from '../items/shape.ts'
import { isLasting } from './refusals.ts'
import { eventOf, orderPath, part, refundPart } from './row.ts'
import { describeRowOfB } from './unreadable.ts'

/** The kind of each type of row. The money of a `_REVERSAL` row came back to us, perhaps long after. */
const RETURNS: Record<string, ApiReturn['kind']> = {
  REFUND: 'refund',
  REFUND_REVERSAL: 'refund',
  DISPUTE: 'dispute',
  DISPUTE_REVERSAL: 'dispute',
  CHARGEBACK: 'dispute',
  CHARGEBACK_REVERSAL: 'dispute',
}

type Ask = (path: string) => Promise<unknown>

/** After so many questions of one fetch without an answer, it asks no further one: each takes minutes. */
const MAX_UNANSWERED = 3

export function askUntilUnanswered(ask: Ask): Ask {
  const failures: GatewayUnavailable[] = []
  return async path => {
    if (failures.length === MAX_UNANSWERED) throw failures[0]
    return ask(path).catch(error => {
      if (error instanceof GatewayUnavailable) failures.push(error)
      throw error
    })
  }
}

/** Rows name neither the id that webhooks use nor the outcome: the refund's or dispute's own resource does. */
export async function returnsIn(
  rows: unknown[],
  window: Window,
  ask: Ask,
): Promise<Omit<ApiPage, 'payments'>> {
  const returns: ApiReturn[] = []
  const unreadable: Unreadable[] = []
  let unsaid: GatewayUnavailable | undefined
  for (const row of rows) {
    const kind = RETURNS[itemIfReadable(() => shape.text(eventOf(row), 'event_type')) ?? '']
    try {
      if (kind === 'refund') returns.push(...(await refundIn(row, ask)))
      if (kind === 'dispute') returns.push(...(await disputesIn(row, ask)))
    } catch (error) {
      if (error instanceof GatewayUnavailable) unsaid = error
      else unreadable.push(asUnreadable(error, row, describeRowOfB(kind ?? 'dispute', window)))
    }
  }
  return { returns, unreadable, unsaid }
}

const idsIn = (row: unknown) => ({
  orderId: shape.maybe(part(row, 'order_details'), 'order_id'),
  paymentId: shape.maybe(part(row, 'payment_details'), 'cf_payment_id'),
})

async function refundIn(row: unknown, ask: Ask): Promise<ApiReturn[]> {
  const { orderId, paymentId } = idsIn(row)
  const refundId = shape.maybe(refundPart(row), 'refund_id')
  const { list, refusal } = await listAt(orderId && `${orderPath(orderId)}/refunds`, ask)
  const refund = list.find(one => itemIfReadable(() => shape.text(one, 'refund_id')) === refundId)
  return refund === undefined
    ? readOr(refusal, refundOfRow(row, refundId, paymentId))
    : refundOf(refund)
}

async function disputesIn(row: unknown, ask: Ask): Promise<ApiReturn[]> {
  const { orderId, paymentId } = idsIn(row)
  const ofPayment = paymentId === null ? null : `/payments/${encodeURIComponent(paymentId)}`
  const path = ofPayment ?? (orderId && orderPath(orderId))
  const { list, refusal } = await listAt(path && `${path}/disputes`, ask)
  return list.length === 0
    ? readOr(refusal, disputeOfRow(row, paymentId))
    : list.map(dispute => disputeOf(dispute, paymentId))
}

type Answer = { list: unknown[]; refusal?: GatewayRefused }

/** An empty list if the gateway has nothing at the path, or refuses to say, as for orders of earlier years. */
async function listAt(path: string | null, ask: Ask): Promise<Answer> {
  if (path === null) return { list: [] }
  try {
    const list = await ask(path)
    return { list: list === undefined ? [] : shape.list(list) }
  } catch (error) {
    if (!(error instanceof GatewayRefused && isLasting(error))) throw error
    return { list: [], refusal: error }
  }
}

/**
 * What the row itself says.
 * @throws UnreadableItem if the row says nothing: money went back, and nobody knows of which payment
 */
function readOr(refusal: GatewayRefused | undefined, ofRow: ApiReturn[]): ApiReturn[] {
  if (ofRow.length > 0) return ofRow
  throw refusal === undefined
    ? new UnreadableItem(NAMES_NO_PAYMENT)
    : new UnreadableItem(`asked about it, ${refusal.message}`)
}

const NAMES_NO_PAYMENT = 'it names no payment'

function refundOf(refund: unknown): ApiReturn[] {
  for (const needed of ['cf_refund_id', 'cf_payment_id']) shape.text(refund, needed)
  return [{ kind: 'refund', item: refund }]
}

function refundOfRow(row: unknown, refundId: string | null, paymentId: string | null): ApiReturn[] {
  return refundId === null || paymentId === null ? [] : [{ kind: 'refund', item: row }]
}

function disputeOf(dispute: unknown, askedOf: string | null): ApiReturn {
  shape.text(dispute, 'dispute_id')
  return { kind: 'dispute', item: withPayment(dispute, askedOf) }
}

/** A payment's own list need not say whose disputes these are. @throws UnreadableItem if nothing names the payment */
export function withPayment(dispute: unknown, paymentId: string | null): unknown {
  if (shape.maybe(dispute, 'order_details.cf_payment_id') !== null) return dispute
  if (paymentId === null) throw new UnreadableItem(NAMES_NO_PAYMENT)
  const { order_details: details, ...rest } = dispute as Record<string, object | null>
  return { ...rest, order_details: { ...details, cf_payment_id: paymentId } }
}

function disputeOfRow(row: unknown, paymentId: string | null): ApiReturn[] {
  // A flat row of a dispute names no payment.
  if (paymentId === null) return []
  shape.text(eventOf(row), 'event_id')
  return [{ kind: 'dispute', item: row }]
}
