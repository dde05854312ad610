import { at } from './exact-json.ts'
import type { ApiPayment, ApiReversal, ApiSettlement, GatewayApi, Window } from './gateway-api.ts'
import { GatewayRefused, openGatewayCaller, UnexpectedAnswer } from './gateway-call.ts'
import { shape } from './shape.ts'

const ROWS_PER_PAGE = 1_000

const STATUSES: Record<string, ApiPayment['status']> = {
  SUCCESS: 'captured',
  FAILED: 'failed',
  USER_DROPPED: 'failed',
  CANCELLED: 'failed',
  VOID: 'failed',
}
/** Of a row that reports a payment; samples also have PAID and CLOSED. */
const EVENT_STATUSES: Record<string, ApiPayment['status']> = {
  FAILED: 'failed',
  CANCELLED: 'failed',
  PENDING: 'pending',
}
const REVERSALS: Record<string, ApiReversal['kind']> = {
  REFUND: 'refund',
  DISPUTE: 'chargeback',
  CHARGEBACK: 'chargeback',
}

/** @param url up to and with /pg */
export function openGatewayB(
  url: string,
  { key, secret, version }: { key: string; secret: string; version: string },
): GatewayApi {
  const caller = openGatewayCaller(url, {
    'x-client-id': key,
    'x-client-secret': secret,
    'x-api-version': version,
  })
  const get = (path: string) => caller.call({ method: 'GET', path })
  const orderPath = (orderId: string) => `/orders/${encodeURIComponent(orderId)}`

  return {
    async *pages(window) {
      for await (const rows of recon('/recon', window)) {
        const reversals: ApiReversal[] = []
        for (const row of rows) reversals.push(...(await reversalOf(row)))
        yield { payments: rows.filter(isPayment).map(paymentOf), reversals }
      }
    },
    async payment(id, orderId) {
      // Without its order, no call of this gateway finds a payment.
      if (orderId === null) return undefined
      const path = `${orderPath(orderId)}/payments/${encodeURIComponent(id)}`
      const item = await found(get(path))
      return item === undefined ? undefined : entityOf(item)
    },
    order: orderId => found(get(orderPath(orderId))),
    async *settled(window) {
      for await (const rows of recon('/settlement/recon', window))
        yield rows.filter(isPayment).flatMap(settlementOf)
    },
    close: caller.close,
  }

  /** The last page is the one without a cursor, or an empty one: a short page is not. */
  async function* recon(path: string, { from, to }: Window) {
    const filters = { start_date: from.toISOString(), end_date: to.toISOString() }
    for (let cursor: string | null = null; ; ) {
      const body = JSON.stringify({ pagination: { limit: ROWS_PER_PAGE, cursor }, filters })
      const answer = await caller.call({ method: 'POST', path, body })
      const rows = shape.list(answer, 'data')
      yield rows
      const next = at(answer, 'cursor')
      if (typeof next !== 'string' || next === '' || rows.length === 0) return
      if (next === cursor) throw new UnexpectedAnswer('its list does not end')
      cursor = next
    }
  }

  /**
   * A row names neither the id under which a webhook reports its refund or dispute, nor how that ended: their own
   * resources do. Where there are none, the row itself is taken.
   */
  async function reversalOf(row: unknown): Promise<ApiReversal[]> {
    const event = eventOf(row)
    const kind = REVERSALS[shape.maybe(event, 'event_type') ?? '']
    if (kind === undefined) return []
    const orderId = shape.maybe(part(row, 'order_details'), 'order_id')
    const paymentId = shape.maybe(part(row, 'payment_details'), 'cf_payment_id')
    if (kind === 'refund') {
      const refundId = shape.maybe(refundPart(row), 'refund_id')
      const refunds = orderId === null ? [] : await listAt(`${orderPath(orderId)}/refunds`)
      const refund = refunds.find(one => shape.maybe(one, 'refund_id') === refundId)
      return refund === undefined ? refundOfRow(row, refundId, paymentId) : refundOf(refund)
    }
    const path = paymentId === null ? null : `/payments/${encodeURIComponent(paymentId)}/disputes`
    const byOrder = orderId === null ? null : `${orderPath(orderId)}/disputes`
    const disputes = await listAt(path ?? byOrder)
    return disputes.length === 0
      ? disputeOfRow(row, paymentId)
      : disputes.flatMap(dispute => disputeOf(dispute, paymentId))
  }

  async function listAt(path: string | null): Promise<unknown[]> {
    const list = path === null ? undefined : await found(get(path))
    return list === undefined ? [] : shape.list(list)
  }
}

async function found(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof GatewayRefused && error.status === 404) return undefined
    throw error
  }
}

/** Rows are nested since 2026-01-01, and flat before; an event's type decides what it is. */
const part = (row: unknown, name: string) => at(row, name) ?? row
const eventOf = (row: unknown) => part(row, 'event_details')
/** A list since 2026-01-01, in one of the two reconciliations. */
const refundPart = (row: unknown) => [part(row, 'refund_details')].flat()[0]
const isPayment = (row: unknown) => at(eventOf(row), 'event_type') === 'PAYMENT'

function paymentOf(row: unknown): ApiPayment {
  const event = eventOf(row)
  const payment = part(row, 'payment_details')
  const order = part(row, 'order_details')
  const hasAmount = shape.maybe(payment, 'payment_amount') !== null
  return {
    id: shape.text(payment, 'cf_payment_id'),
    // Rows of payments without their own amount have been seen.
    amount: hasAmount
      ? shape.amount(payment, 'payment_amount')
      : shape.amount(event, 'event_amount'),
    currency: shape.maybe(payment, 'payment_currency') ?? shape.text(event, 'event_currency'),
    status: EVENT_STATUSES[shape.maybe(event, 'event_status') ?? ''] ?? 'captured',
    paidAt: shape.isoTime(payment, 'payment_time'),
    ...feesOf(row),
    orderId: shape.maybe(order, 'order_id'),
    hasTags: namesLoan(at(order, 'order_tags')),
    item: row,
  }
}

/** As GET …/payments/{cf_payment_id} answers. */
function entityOf(item: unknown): ApiPayment {
  return {
    id: shape.text(item, 'cf_payment_id'),
    amount: shape.amount(item, 'payment_amount'),
    currency: shape.text(item, 'payment_currency'),
    status: STATUSES[shape.text(item, 'payment_status')] ?? 'pending',
    paidAt: shape.isoTime(item, 'payment_time'),
    fee: null,
    tax: null,
    orderId: shape.maybe(item, 'order_id'),
    hasTags: false,
    item,
  }
}

function namesLoan(tags: unknown): boolean {
  return ['external_loan_id', 'loan_id'].some(name => shape.maybe(tags, name) !== null)
}

function feesOf(row: unknown): { fee: string | null; tax: string | null } {
  const event = eventOf(row)
  const first = (...names: string[]) => names.find(name => shape.maybe(event, name) !== null)
  const fee = first('event_service_charge', 'payment_service_charge')
  const tax = first('event_service_tax', 'payment_service_tax')
  return { fee: fee ? shape.amount(event, fee) : null, tax: tax ? shape.amount(event, tax) : null }
}

function refundOf(refund: unknown): ApiReversal[] {
  // One that is under way, or was not made after all, changes nothing.
  if (shape.maybe(refund, 'refund_status') !== 'SUCCESS') return []
  const id = shape.text(refund, 'cf_refund_id')
  const paymentId = shape.text(refund, 'cf_payment_id')
  return [{ kind: 'refund', id, paymentId, outcome: 'done', item: refund }]
}

function refundOfRow(
  row: unknown,
  refundId: string | null,
  paymentId: string | null,
): ApiReversal[] {
  const isDone = shape.maybe(eventOf(row), 'event_status') === 'SUCCESS'
  if (!isDone || refundId === null || paymentId === null) return []
  return [{ kind: 'refund', id: refundId, paymentId, outcome: 'done', item: row }]
}

function disputeOf(dispute: unknown, ofPayment: string | null): ApiReversal[] {
  const status = shape.maybe(dispute, 'dispute_status') ?? ''
  // Such a one only asks a question.
  if (/^RETRIEVAL/.test(status) || at(dispute, 'dispute_type') === 'RETRIEVAL') return []
  const paymentId = shape.maybe(dispute, 'order_details.cf_payment_id') ?? ofPayment
  if (paymentId === null) return []
  const outcome = /_MERCHANT_(LOST|ACCEPTED)$/.test(status)
    ? 'done'
    : /_MERCHANT_WON$/.test(status)
      ? 'undone'
      : 'open'
  const id = shape.text(dispute, 'dispute_id')
  return [{ kind: 'chargeback', id, paymentId, outcome, item: dispute }]
}

function disputeOfRow(row: unknown, paymentId: string | null): ApiReversal[] {
  const winner = shape.maybe(part(row, 'dispute_details'), 'closed_in_favor_of')
  const outcome = { CUSTOMER: 'done', MERCHANT: 'undone' }[winner ?? ''] ?? 'open'
  // A flat row of a dispute names no payment.
  if (paymentId === null) return []
  const id = shape.text(eventOf(row), 'event_id')
  return [
    { kind: 'chargeback', id, paymentId, outcome: outcome as ApiReversal['outcome'], item: row },
  ]
}

function settlementOf(row: unknown): ApiSettlement[] {
  const details = part(row, 'settlement_details')
  const settlementId = shape.maybe(details, 'cf_settlement_id')
  const paymentId = shape.maybe(part(row, 'payment_details'), 'cf_payment_id')
  if (settlementId === null || paymentId === null) return []
  const { fee, tax } = feesOf(row)
  return [
    {
      paymentId,
      settlementId,
      settledAt:
        shape.maybe(details, 'settlement_date') === null
          ? null
          : shape.isoTime(details, 'settlement_date'),
      utr: shape.maybe(details, 'settlement_utr') ?? shape.maybe(details, 'utr'),
      fee: fee ?? '0.00',
      tax: tax ?? '0.00',
    },
  ]
}
