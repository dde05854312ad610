import type { ApiPage, ApiReversal, Unreadable, Window } from '../gateway-api.ts'
import { asUnreadable, ifReadable } from '../items/read-each.ts'
import { shape } from '../items/shape.ts'
import { eventOf, orderPath, part, refundPart } from './row.ts'
import { describeRowOfB } from './unreadable.ts'

/** The kind of each type of row. The money of a `_REVERSAL` row came back to us, perhaps long after. */
const REVERSALS: Record<string, ApiReversal['kind']> = {
  REFUND: 'refund',
  REFUND_REVERSAL: 'refund',
  DISPUTE: 'dispute',
  DISPUTE_REVERSAL: 'dispute',
  CHARGEBACK: 'dispute',
  CHARGEBACK_REVERSAL: 'dispute',
}

type Ask = (path: string) => Promise<unknown>

/** Rows name neither the id that webhooks use nor the outcome: the refund's or dispute's own resource does. */
export async function reversalsIn(
  rows: unknown[],
  window: Window,
  ask: Ask,
): Promise<Omit<ApiPage, 'payments'>> {
  const reversals: ApiReversal[] = []
  const unreadable: Unreadable[] = []
  for (const row of rows) {
    const kind = REVERSALS[ifReadable(() => shape.text(eventOf(row), 'event_type')) ?? '']
    try {
      if (kind === 'refund') reversals.push(...(await refundIn(row, ask)))
      if (kind === 'dispute') reversals.push(...(await disputesIn(row, ask)))
    } catch (error) {
      unreadable.push(asUnreadable(error, row, describeRowOfB(kind ?? 'dispute', window)))
    }
  }
  return { reversals, unreadable }
}

const idsIn = (row: unknown) => ({
  orderId: shape.maybe(part(row, 'order_details'), 'order_id'),
  paymentId: shape.maybe(part(row, 'payment_details'), 'cf_payment_id'),
})

async function refundIn(row: unknown, ask: Ask): Promise<ApiReversal[]> {
  const { orderId, paymentId } = idsIn(row)
  const refundId = shape.maybe(refundPart(row), 'refund_id')
  const refunds = orderId === null ? [] : await listAt(`${orderPath(orderId)}/refunds`, ask)
  const refund = refunds.find(one => ifReadable(() => shape.text(one, 'refund_id')) === refundId)
  return refund === undefined ? refundOfRow(row, refundId, paymentId) : refundOf(refund)
}

async function disputesIn(row: unknown, ask: Ask): Promise<ApiReversal[]> {
  const { orderId, paymentId } = idsIn(row)
  const ofPayment = paymentId === null ? null : `/payments/${encodeURIComponent(paymentId)}`
  const path = ofPayment ?? (orderId === null ? null : orderPath(orderId))
  const disputes = path === null ? [] : await listAt(`${path}/disputes`, ask)
  return disputes.length === 0
    ? disputeOfRow(row, paymentId)
    : disputes.flatMap(dispute => disputeOf(dispute, paymentId))
}

async function listAt(path: string, ask: Ask): Promise<unknown[]> {
  const list = await ask(path)
  return list === undefined ? [] : shape.list(list)
}

function refundOf(refund: unknown): ApiReversal[] {
  for (const needed of ['cf_refund_id', 'cf_payment_id']) shape.text(refund, needed)
  return [{ kind: 'refund', item: refund }]
}

function refundOfRow(
  row: unknown,
  refundId: string | null,
  paymentId: string | null,
): ApiReversal[] {
  return refundId === null || paymentId === null ? [] : [{ kind: 'refund', item: row }]
}

function disputeOf(dispute: unknown, ofPayment: string | null): ApiReversal[] {
  const paymentId = shape.maybe(dispute, 'order_details.cf_payment_id') ?? ofPayment
  if (paymentId === null) return []
  shape.text(dispute, 'dispute_id')
  return [{ kind: 'dispute', item: dispute }]
}

function disputeOfRow(row: unknown, paymentId: string | null): ApiReversal[] {
  // A flat row of a dispute names no payment.
  if (paymentId === null) return []
  shape.text(eventOf(row), 'event_id')
  return [{ kind: 'dispute', item: row }]
}
