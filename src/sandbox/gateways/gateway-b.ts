import { DAY_MS, INDIA_MS } from '../calendar.ts'
import { bankReference } from './bank-reference.ts'
import type { GatewayAnswer } from './gateway-a.ts'
import {
  type GatewayDispute,
  type GatewayPayment,
  type GatewayRefund,
  type GatewayStore,
  rupees,
} from './gateway-store.ts'

/** The version from which on rows are nested and carry the order's tags. */
const NESTED_FROM = '2026-01-01'
const MAX_ROWS_PER_PAGE = 1_000
const MAX_DAYS = 30

type Filters = { start_date?: string; end_date?: string; cf_settlement_ids?: string[] }
type ReconRequest = { pagination?: { limit?: number; cursor?: string | null }; filters?: Filters }
/** A row is a text, because amounts are written with both decimals. */
type Row = { at: number; text: string }

/** Undefined for an unknown path. */
export function answerB(
  store: GatewayStore,
  { url, body, version }: { url: URL; body: string; version: string | undefined },
  account: string,
): GatewayAnswer | undefined {
  if (!version) return refusalB(400, 'version_missing', 'x-api-version is missing')
  const mine = store
    .payments('gateway_b')
    .filter(one => one.account === null || one.account === account)
  const path = url.pathname.replace(/^\/pg\//, '')
  if (path === 'recon') return recon(eventsOf(store, mine, version), JSON.parse(body))
  if (path === 'settlement/recon') return recon(settledOf(store, mine, version), JSON.parse(body))
  const [, paymentId] = /^payments\/([^/]+)\/disputes$/.exec(path) ?? []
  if (paymentId !== undefined) {
    const disputed = mine.find(one => one.id === decodeURIComponent(paymentId))
    if (disputed === undefined) return refusalB(404, 'payment_not_found', 'Payment does not exist')
    const disputes = store.disputes.filter(one => one.paymentId === disputed.id)
    return ok(`[${disputes.map(one => disputeText(one, disputed)).join()}]`)
  }
  const [, orderId, part, id] = /^orders\/([^/]+)(?:\/(\w+))?(?:\/([^/]+))?$/.exec(path) ?? []
  if (orderId === undefined) return undefined
  const ofOrder = mine.filter(one => one.orderId === decodeURIComponent(orderId))
  const [first] = ofOrder
  if (first === undefined) return refusalB(404, 'order_not_found', 'Order does not exist')
  if (part === undefined) return ok(orderText(first))
  if (part === 'payments' && id === undefined) return ok(`[${ofOrder.map(paymentText).join()}]`)
  if (part === 'payments') {
    const payment = ofOrder.find(one => one.id === id)
    return payment === undefined
      ? refusalB(404, 'payment_not_found', 'Payment does not exist')
      : ok(paymentText(payment))
  }
  const refunds = store.refunds.filter(one => ofOrder.some(({ id }) => id === one.paymentId))
  return part === 'refunds' ? ok(`[${refunds.map(refundText).join()}]`) : undefined
}

/** A page may be shorter than requested. */
function recon(rows: Row[], { pagination = {}, filters = {} }: ReconRequest): GatewayAnswer {
  const from = Date.parse(filters.start_date ?? '')
  const to = Date.parse(filters.end_date ?? '')
  if (Number.isNaN(from) || Number.isNaN(to) || to - from > MAX_DAYS * DAY_MS)
    return refusalB(400, 'filters_invalid', 'start_date and end_date must be within 30 days')
  const limit = Math.min(pagination.limit ?? 10, MAX_ROWS_PER_PAGE)
  const after = pagination.cursor ? Number(Buffer.from(pagination.cursor, 'base64').toString()) : 0
  const wanted = rows.filter(({ at }) => at >= from && at <= to)
  const page = wanted.slice(after, after + Math.max(1, limit - 1))
  const next = after + page.length
  const cursor = next < wanted.length ? Buffer.from(String(next)).toString('base64') : null
  const data = page.map(({ text }) => text).join()
  return ok(`{"cursor":${JSON.stringify(cursor)},"limit":${page.length},"data":[${data}]}`)
}

function eventsOf(store: GatewayStore, mine: GatewayPayment[], version: string): Row[] {
  const payments = mine
    .filter(({ status }) => status === 'captured' || status === 'refunded')
    .map(payment => ({
      at: payment.createdAt.getTime(),
      text: eventText(payment, version, { type: 'PAYMENT', amount: payment.amount }),
    }))
  const of = (gatewayPaymentId: string) => mine.find(({ id }) => id === gatewayPaymentId)
  const more = (list: (GatewayRefund | GatewayDispute)[], type: string) =>
    list.flatMap(one => {
      const payment = one.gateway === 'gateway_b' ? of(one.paymentId) : undefined
      if (payment === undefined) return []
      const event = { type, amount: one.amount, id: one.id, status: one.status, at: one.createdAt }
      return [{ at: one.createdAt.getTime(), text: eventText(payment, version, event) }]
    })
  return [...payments, ...more(store.refunds, 'REFUND'), ...more(store.disputes, 'DISPUTE')].sort(
    (a, b) => a.at - b.at,
  )
}

function settledOf(store: GatewayStore, mine: GatewayPayment[], version: string): Row[] {
  const row = (
    payment: GatewayPayment,
    settlement: GatewayPayment['settlement'],
    event: Event,
  ): Row[] =>
    settlement === null
      ? []
      : [
          {
            at: settlement.at.getTime(),
            text: eventText({ ...payment, settlement }, version, event),
          },
        ]
  return mine.flatMap(payment => [
    ...row(payment, payment.settlement, { type: 'PAYMENT', amount: payment.amount }),
    ...store.refunds
      .filter(one => one.gateway === 'gateway_b' && one.paymentId === payment.id)
      .flatMap(({ id, amount, settlement }) =>
        row(payment, settlement, { type: 'REFUND', amount, id }),
      ),
  ])
}

const WINNERS: Record<string, string> = { won: 'MERCHANT', lost: 'CUSTOMER', accepted: 'CUSTOMER' }

type Event = { type: string; amount: bigint; id?: string; status?: string; at?: Date }

/** Amounts are written as numbers with both decimals. */
function eventText(payment: GatewayPayment, version: string, event: Event): string {
  const time = indian(event.at ?? payment.createdAt)
  const { settlement } = payment
  const charged = event.type === 'PAYMENT' ? payment : { fee: 0n, tax: 0n }
  const base = charged.fee - charged.tax
  const text = JSON.stringify
  const event_id = text(`${event.type}-${event.id ?? payment.id}`)
  const refund = event.type === 'REFUND' ? `"${event.id}"` : 'null'
  const common = `"event_id":${event_id},"event_type":"${event.type}","event_amount":${rupees(event.amount)},"event_settlement_amount":${rupees(event.amount - charged.fee)},"event_currency":"${payment.currency}","event_status":"SUCCESS","event_time":"${time}","sale_type":"${event.type === 'PAYMENT' ? 'CREDIT' : 'DEBIT'}"`
  const order = `"order_id":${text(payment.orderId)},"order_amount":${rupees(payment.amount)}`
  const paid = `"cf_payment_id":${text(payment.id)},"payment_amount":${rupees(payment.amount)},"payment_time":"${indian(payment.createdAt)}","payment_group":"upi"`
  const settled = settlement && indian(settlement.at)
  if (version < NESTED_FROM)
    return `{${common},${order},${paid},"payment_utr":null,"payment_service_charge":${rupees(base)},"payment_service_tax":${rupees(charged.tax)},"cf_settlement_id":${text(settlement?.id ?? null)},"settlement_date":${text(settled)},"settlement_utr":${text(settlement?.utr ?? null)},"refund_id":${refund}}`
  return `{"event_details":{${common},"event_service_charge":${rupees(base)},"event_service_tax":${rupees(charged.tax)}},"order_details":{${order},"order_currency":"${payment.currency}","order_tags":${tagsOf(payment)}},"payment_details":{${paid},"payment_currency":"${payment.currency}","bank_reference":"${bankReference(payment.id)}","status":"SUCCESS"},"refund_details":{"refund_id":${refund}},"dispute_details":{"closed_in_favor_of":${text(WINNERS[event.status ?? ''] ?? null)}},"settlement_details":{"cf_settlement_id":${text(settlement?.id ?? null)},"settlement_date":${text(settled)},"utr":${text(settlement?.utr ?? null)}}}`
}

function tagsOf({ notes, orderNotes }: GatewayPayment): string {
  const tags = { ...orderNotes, ...notes }
  return Object.keys(tags).length === 0 ? 'null' : JSON.stringify(tags)
}

const orderText = (payment: GatewayPayment): string =>
  `{"cf_order_id":"${payment.orderId}-cf","order_id":${JSON.stringify(payment.orderId)},"order_amount":${rupees(payment.amount)},"order_currency":"${payment.currency}","order_status":"PAID","order_tags":${tagsOf(payment)},"order_note":null,"created_at":"${indian(payment.createdAt)}"}`

const STATUSES = {
  created: 'NOT_ATTEMPTED',
  authorized: 'PENDING',
  captured: 'SUCCESS',
  refunded: 'SUCCESS',
  failed: 'FAILED',
} as const

function paymentText(payment: GatewayPayment): string {
  const status = STATUSES[payment.status]
  return `{"cf_payment_id":${JSON.stringify(payment.id)},"order_id":${JSON.stringify(payment.orderId)},"payment_status":"${status}","is_captured":${status === 'SUCCESS'},"payment_amount":${rupees(payment.amount)},"payment_currency":"${payment.currency}","order_amount":${rupees(payment.amount)},"payment_time":"${indian(payment.createdAt)}","payment_completion_time":"${indian(payment.createdAt)}","bank_reference":"${bankReference(payment.id)}","payment_group":"upi"}`
}

function refundText(refund: GatewayRefund): string {
  const status = { pending: 'PENDING', processed: 'SUCCESS', failed: 'FAILED' }[refund.status]
  return `{"cf_refund_id":${JSON.stringify(refund.id)},"refund_id":${JSON.stringify(refund.id)},"cf_payment_id":${JSON.stringify(refund.paymentId)},"refund_amount":${rupees(refund.amount)},"refund_currency":"INR","refund_status":"${status}","refund_type":"MERCHANT_INITIATED","processed_at":"${indian(refund.createdAt)}"}`
}

/** Gateway B has no dispute that is closed and neither won nor lost. */
const DISPUTE_STATUSES: Record<GatewayDispute['status'], string> = {
  open: 'DISPUTE_CREATED',
  under_review: 'DISPUTE_UNDER_REVIEW',
  won: 'DISPUTE_MERCHANT_WON',
  closed: 'DISPUTE_MERCHANT_WON',
  lost: 'DISPUTE_MERCHANT_LOST',
  accepted: 'DISPUTE_MERCHANT_ACCEPTED',
}

function disputeText(dispute: GatewayDispute, payment: GatewayPayment): string {
  const status = DISPUTE_STATUSES[dispute.status]
  return `{"dispute_id":${JSON.stringify(dispute.id)},"dispute_type":"DISPUTE","dispute_amount":${rupees(dispute.amount)},"dispute_amount_currency":"INR","created_at":"${indian(dispute.createdAt)}","dispute_status":"${status}","order_details":{"order_id":${JSON.stringify(payment.orderId)},"cf_payment_id":${JSON.stringify(payment.id)},"payment_amount":${rupees(payment.amount)},"payment_currency":"INR"}}`
}

const indian = (at: Date) => `${new Date(at.getTime() + INDIA_MS).toISOString().slice(0, 19)}+05:30`

const ok = (body: string): GatewayAnswer => ({ status: 200, body })

export function refusalB(status: number, code: string, message: string): GatewayAnswer {
  const type =
    { 401: 'authentication_error', 429: 'rate_limit_error', 500: 'api_error' }[status] ??
    'invalid_request_error'
  return { status, body: JSON.stringify({ message, code, type }) }
}
