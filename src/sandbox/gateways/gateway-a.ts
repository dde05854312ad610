import { INDIA_MS } from '../calendar.ts'
import { bankReference } from './bank-reference.ts'
import type { GatewayPayment, GatewayRefund, GatewayStore } from './gateway-store.ts'

/** Unix times outside of this are refused. */
const EARLIEST = 946_684_800
const LATEST = 4_765_046_400
const MAX_ITEMS_PER_PAGE = 100
const MAX_RECON_ROWS = 1_000

export type GatewayAnswer = { status: number; body: string; headers?: Record<string, string> }

/** Undefined for an unknown path. `account`: whose credentials were sent. */
export function answerA(store: GatewayStore, url: URL, account: string): GatewayAnswer | undefined {
  const [resource, id, part] = url.pathname.replace(/^\/v1\//, '').split('/')
  const query = url.searchParams
  const mine = store
    .payments('gateway_a')
    .filter(one => one.account === null || one.account === account)
  const ids = new Set(mine.map(one => one.id))
  const isMine = ({ paymentId }: { paymentId: string }) => ids.has(paymentId)
  const refunds = store.refunds.filter(isOfA).filter(isMine)
  const entityOf = (payment: GatewayPayment) => paymentOf(payment, refunds)
  switch (`${resource}${id === undefined ? '' : '/:id'}${part === undefined ? '' : `/${part}`}`) {
    case 'payments':
      return page(mine, query, entityOf)
    case 'payments/:id':
      return one(
        mine.find(payment => payment.id === id),
        entityOf,
      )
    case 'payments/:id/refunds':
      return page(
        refunds.filter(({ paymentId }) => paymentId === id),
        query,
        refundOf,
      )
    case 'orders/:id':
      return one(
        mine.find(payment => payment.orderId === id),
        orderOf,
      )
    case 'refunds':
      return page(refunds, query, refundOf)
    case 'disputes':
      return page(store.disputes.filter(isOfA).filter(isMine), query, disputeOf)
    case 'settlements/:id/combined':
      return recon(mine, refunds, query)
    default:
      return undefined
  }
}

const isOfA = ({ gateway }: { gateway: string }) => gateway === 'gateway_a'
const seconds = (at: Date) => Math.floor(at.getTime() / 1_000)

/** Newest first; `count` is the number of items on this page. */
function page<T extends { createdAt: Date }>(
  all: T[],
  query: URLSearchParams,
  shape: (item: T) => object,
): GatewayAnswer {
  const number = (name: string, standard: number) => Number(query.get(name) ?? standard)
  const from = number('from', EARLIEST)
  const to = number('to', LATEST)
  const count = number('count', 10)
  const skip = number('skip', 0)
  if (!(from >= EARLIEST && to <= LATEST && from <= to))
    return refusal(400, 'from must be between 946684800 and 4765046400')
  if (!(Number.isInteger(count) && count >= 1 && count <= MAX_ITEMS_PER_PAGE))
    return refusal(400, 'The count may not be greater than 100.')
  const items = all
    .filter(({ createdAt }) => seconds(createdAt) >= from && seconds(createdAt) <= to)
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
    .slice(skip, skip + count)
    .map(shape)
  return ok({ entity: 'collection', count: items.length, items })
}

function recon(
  mine: GatewayPayment[],
  refunds: GatewayRefund[],
  query: URLSearchParams,
): GatewayAnswer {
  const [year, month, day] = ['year', 'month', 'day'].map(name => query.get(name))
  if (!year || !month) return refusal(400, 'The year and month fields are required.')
  const skip = Number(query.get('skip') ?? 0)
  const count = Math.min(Number(query.get('count') ?? 10), MAX_RECON_ROWS)
  const isWanted = ({ settlement }: Pick<GatewayPayment, 'settlement'>) =>
    settlement !== null && isOn(settlement.at, year, month, day)
  const items = [
    ...mine.filter(isWanted).map(reconRowOf),
    ...refunds.filter(isWanted).map(refundRowOf),
  ].slice(skip, skip + count)
  return ok({ entity: 'collection', count: items.length, items })
}

function isOn(at: Date, year: string, month: string, day: string | null | undefined): boolean {
  const local = new Date(at.getTime() + INDIA_MS).toISOString()
  const wanted = [year, month.padStart(2, '0'), ...(day ? [day.padStart(2, '0')] : [])].join('-')
  return local.startsWith(wanted)
}

function paymentOf(payment: GatewayPayment, refunds: GatewayRefund[]) {
  const { notes } = payment
  const refunded = refundedOf(payment, refunds)
  return {
    id: payment.id,
    entity: 'payment',
    amount: Number(payment.amount),
    currency: payment.currency,
    status: payment.status,
    order_id: payment.orderId,
    invoice_id: null,
    international: false,
    method: 'upi',
    amount_refunded: Number(refunded),
    refund_status: refunded === 0n ? null : refunded < payment.amount ? 'partial' : 'full',
    captured: payment.status === 'captured' || payment.status === 'refunded',
    description: null,
    vpa: 'payer@bank',
    email: 'payer@example.com',
    contact: '+919999999999',
    notes: Object.keys(notes).length === 0 ? [] : notes,
    fee: Number(payment.fee),
    tax: Number(payment.tax),
    error_code: null,
    acquirer_data: { rrn: bankReference(payment.id) },
    created_at: seconds(payment.createdAt),
  }
}

function refundedOf({ id, amount, status }: GatewayPayment, refunds: GatewayRefund[]): bigint {
  if (status === 'refunded') return amount
  return refunds
    .filter(one => one.paymentId === id && one.status !== 'failed')
    .reduce((sum, one) => sum + one.amount, 0n)
}

function orderOf({ orderId, amount, currency, orderNotes, createdAt }: GatewayPayment) {
  return {
    id: orderId,
    entity: 'order',
    amount: Number(amount),
    currency,
    receipt: null,
    status: 'paid',
    notes: Object.keys(orderNotes).length === 0 ? [] : orderNotes,
    created_at: seconds(createdAt),
  }
}

function refundOf(refund: GatewayRefund) {
  return {
    id: refund.id,
    entity: 'refund',
    amount: Number(refund.amount),
    currency: 'INR',
    payment_id: refund.paymentId,
    notes: [],
    receipt: null,
    acquirer_data: { arn: null },
    created_at: seconds(refund.createdAt),
    status: refund.status,
    speed_requested: 'normal',
    speed_processed: 'normal',
  }
}

function disputeOf(dispute: GatewayStore['disputes'][number]) {
  return {
    id: dispute.id,
    entity: 'dispute',
    payment_id: dispute.paymentId,
    amount: Number(dispute.amount),
    currency: 'INR',
    amount_deducted: dispute.status === 'lost' ? Number(dispute.amount) : 0,
    reason_code: 'goods_or_services_not_received_or_partially_received',
    respond_by: seconds(dispute.createdAt) + 864_000,
    status: dispute.status,
    phase: dispute.phase ?? 'chargeback',
    created_at: seconds(dispute.createdAt),
  }
}

function reconRowOf(payment: GatewayPayment) {
  return {
    entity_id: payment.id,
    type: 'payment',
    debit: 0,
    credit: Number(payment.amount - payment.fee),
    amount: Number(payment.amount),
    currency: payment.currency,
    fee: Number(payment.fee),
    tax: Number(payment.tax),
    on_hold: false,
    settled: true,
    created_at: seconds(payment.createdAt),
    settled_at: seconds(payment.settlement?.at ?? payment.createdAt),
    settlement_id: payment.settlement?.id ?? null,
    settlement_utr: payment.settlement?.utr ?? null,
    payment_id: null,
    order_id: payment.orderId,
    order_receipt: null,
    method: 'upi',
    notes: JSON.stringify(payment.notes),
    dispute_id: null,
    description: null,
  }
}

function refundRowOf(refund: GatewayRefund) {
  return {
    entity_id: refund.id,
    type: 'refund',
    debit: Number(refund.amount),
    credit: 0,
    amount: Number(refund.amount),
    currency: 'INR',
    fee: 0,
    tax: 0,
    on_hold: false,
    settled: true,
    created_at: seconds(refund.createdAt),
    settled_at: seconds(refund.settlement?.at ?? refund.createdAt),
    settlement_id: refund.settlement?.id ?? null,
    settlement_utr: refund.settlement?.utr ?? null,
    payment_id: refund.paymentId,
  }
}

const one = <T>(item: T | undefined, shape: (item: T) => object): GatewayAnswer =>
  item === undefined ? refusal(400, 'The id provided does not exist') : ok(shape(item))

const ok = (body: object): GatewayAnswer => ({ status: 200, body: JSON.stringify(body) })

export function refusal(status: number, description: string): GatewayAnswer {
  const code = status < 500 ? 'BAD_REQUEST_ERROR' : 'SERVER_ERROR'
  const error = { code, description, field: null, source: 'NA', step: 'NA', reason: 'NA' }
  return { status, body: JSON.stringify({ error }) }
}
