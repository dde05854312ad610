import { DAY_MS } from '../../../day.ts'
import type {
  ApiPage,
  ApiPayment,
  ApiSettlement,
  CallGateway,
  FoundPayment,
  GatewayReads,
  Window,
} from '../gateway-api.ts'
import { distinctPages } from '../items/distinct-pages.ts'
import { at, textOf } from '../items/exact-json.ts'
import { found, UnexpectedAnswer } from '../items/gateway-errors.ts'
import { partNumbers } from '../items/part-numbers.ts'
import { itemIfReadable, readEach, UnreadableItem } from '../items/read-each.ts'
import { namesLoan, shape } from '../items/shape.ts'
import { isAbsent, isLasting } from './refusals.ts'
import { askUntilUnanswered, returnsIn, withPayment } from './returns.ts'
import { collectionOf, eventOf, orderPath, part, refundIdOf, refundPart } from './row.ts'
import { isOfPayout, paidOutOf, partKindOf, partOf, signed } from './settled-part.ts'
import { describeRowOfB } from './unreadable.ts'

const ROWS_PER_PAGE = 1_000
/** A payment has the time when it was begun, its row the time when it ended: days later, if it was pending. */
const PAYMENT_TAKES_MS = 5 * DAY_MS
/** The row of an attempt with one of these statuses may lack its time and amount. */
const UNPAID = ['FAILED', 'PENDING', 'CANCELLED']
/** No window has more pages: beyond this, the gateway is repeating itself under new cursors. */
const MAX_PAGES = 20_000

export function readsOfB(call: CallGateway): GatewayReads {
  const get = (path: string) => call({ method: 'GET', path })
  const find = (path: string) => found(get(path), isAbsent)
  const ask = askUntilUnanswered(find)
  const itemIn = async (path: string, name: string, id: string) => {
    const list = await find(path)
    const isIt = (item: unknown) =>
      itemIfReadable(() => refundIdOf(shape.text(item, name))) === refundIdOf(id)
    return list === undefined ? undefined : shape.list(list).find(isIt)
  }

  return {
    lists: (window, isLast = true) => [pagesOf(begunIn(call, window, isLast), window, ask)],
    async payment(id, orderId) {
      // Without its order, no call of this gateway finds a payment.
      if (orderId === null) return undefined
      const path = `${orderPath(orderId)}/payments/${encodeURIComponent(id)}`
      const item = await find(path)
      return item === undefined ? undefined : entityOf(item)
    },
    refundsOf: async () => ({ returns: [], unreadable: [] }),
    async refund(id, _, orderId) {
      if (orderId === null) return undefined
      const item = await itemIn(`${orderPath(orderId)}/refunds`, 'cf_refund_id', id)
      return item === undefined ? undefined : { item }
    },
    async dispute(id, paymentId) {
      const path = `/payments/${encodeURIComponent(paymentId)}/disputes`
      const item = await itemIn(path, 'dispute_id', id)
      return item === undefined ? undefined : withPayment(item, paymentId)
    },
    // Without its order, a payment may name no loan; an order of an earlier year is refused.
    order: orderId => found(get(orderPath(orderId)), isLasting),
    settled: window => settledIn(call, window),
  }
}

async function* pagesOf(
  pages: AsyncIterable<unknown[]>,
  window: Window,
  ask: (path: string) => Promise<unknown>,
): AsyncGenerator<ApiPage> {
  for await (const rows of pages) {
    const paid = readEach(rows, paymentIn, describeRowOfB('payment', window))
    const returned = await returnsIn(rows, window, ask)
    yield {
      ...returned,
      payments: paid.read,
      unreadable: [...paid.unreadable, ...returned.unreadable],
      payouts: rows.flatMap(row => itemIfReadable(() => payoutIn(row)) ?? []),
    }
  }
}

async function* settledIn(call: CallGateway, window: Window) {
  const numbered = partNumbers()
  const partsIn = (row: unknown) =>
    settlementOf(row).map(one =>
      one.kind === 'other' && !one.is_of_payout
        ? { ...one, id: numbered(one.settlement_id, one.id) }
        : one,
    )
  for await (const rows of recon(call, '/settlement/recon', window)) {
    const { read, unreadable } = readEach(rows, partsIn, describeRowOfB('settlement', window))
    yield { settlements: read, unreadable }
  }
}

const recon = (call: CallGateway, path: string, window: Window) =>
  distinctPages(reconPages(call, path, window))

/** Only a page without a cursor, or an empty one, is the last: a short page may not be. */
async function* reconPages(call: CallGateway, path: string, { from, to }: Window) {
  const filters = { start_date: from.toISOString(), end_date: to.toISOString() }
  let cursor: string | null = null
  for (let page = 0; page < MAX_PAGES; page++) {
    const body = JSON.stringify({ pagination: { limit: ROWS_PER_PAGE, cursor }, filters })
    const answer = await call({ method: 'POST', path, body })
    const rows = shape.list(answer, 'data')
    yield rows
    cursor = textOf(at(answer, 'cursor')) ?? null
    if (cursor === null || rows.length === 0) return
  }
  throw new UnexpectedAnswer('its list does not end')
}

/** The rows of the window and, if it is the last one, of payments that were begun in it and ended after it. */
async function* begunIn(call: CallGateway, window: Window, isLast: boolean) {
  const { from, to } = window
  const end = isLast ? Math.min(to.getTime() + PAYMENT_TAKES_MS, Date.now()) : 0
  const longer = { from, to: new Date(Math.max(to.getTime(), end)) }
  for await (const rows of recon(call, '/recon', longer))
    yield rows.filter(row => isBegun(row, window))
}

/** Whether the row's event happened, or its payment was begun, before `to`; true if nobody can tell. */
function isBegun(row: unknown, { to }: Window): boolean {
  const event = eventOf(row)
  const happened = itemIfReadable(() => shape.isoTime(event, 'event_time'))
  if (happened === null || happened <= to) return true
  if (itemIfReadable(() => shape.text(event, 'event_type')) !== 'PAYMENT') return false
  const begun = itemIfReadable(() => shape.isoTime(part(row, 'payment_details'), 'payment_time'))
  return begun === null || begun <= to
}

/** A row that does not say what it is about is unreadable: it may be a payment. */
const paymentIn = (row: unknown): ApiPayment[] =>
  shape.text(eventOf(row), 'event_type') === 'PAYMENT' ? [paymentOf(row)] : []

function paymentOf(row: unknown): ApiPayment {
  const event = eventOf(row)
  const payment = part(row, 'payment_details')
  const order = part(row, 'order_details')
  const event_status = shape.maybe(event, 'event_status') ?? 'SUCCESS'
  const lacksTime = UNPAID.includes(event_status) && shape.maybe(payment, 'payment_time') === null
  return {
    id: shape.text(payment, 'cf_payment_id'),
    // Some rows of payments lack their own amount.
    amount:
      shape.given(payment, 'payment_amount', shape.amount) ?? shape.amount(event, 'event_amount'),
    currency: shape.maybe(payment, 'payment_currency') ?? shape.text(event, 'event_currency'),
    statusFields: { event_status, ...collectionOf(payment) },
    paidAt: lacksTime ? shape.isoTime(event, 'event_time') : shape.isoTime(payment, 'payment_time'),
    ...feesOf(row),
    refunded: null,
    orderId: shape.maybe(order, 'order_id'),
    hasTags: namesLoan(at(order, 'order_tags')),
    item: row,
  }
}

function entityOf(item: unknown): FoundPayment {
  return {
    id: shape.text(item, 'cf_payment_id'),
    statusFields: { payment_status: shape.text(item, 'payment_status'), ...collectionOf(item) },
    paidAt: shape.isoTime(item, 'payment_time'),
    refunded: null,
    orderId: shape.maybe(item, 'order_id'),
    hasTags: false,
    item,
  }
}

function feesOf(row: unknown): { fee: string | null; tax: string | null } {
  const event = eventOf(row)
  const first = (...names: string[]) => names.find(name => shape.maybe(event, name) !== null)
  const fee = first('event_service_charge', 'payment_service_charge')
  const tax = first('event_service_tax', 'payment_service_tax')
  return { fee: fee ? shape.amount(event, fee) : null, tax: tax ? shape.amount(event, tax) : null }
}

function settlementOf(row: unknown): ApiSettlement[] {
  const details = part(row, 'settlement_details')
  const settlementId = shape.maybe(details, 'cf_settlement_id')
  const event = eventOf(row)
  const type = shape.maybe(event, 'event_type') ?? ''
  const paymentId = shape.maybe(part(row, 'payment_details'), 'cf_payment_id')
  const kind = partKindOf(type)
  // An adjustment adds its amount, if nothing else is said.
  const paidOut =
    signedIn(event, 'event_settlement_amount') ??
    (kind === 'other' ? signedIn(event, 'event_amount') : null)
  const { id, formerly } =
    kind === 'payment'
      ? { id: paymentId, formerly: null }
      : partOf(kind, {
          eventId: shape.maybe(event, 'event_id'),
          type,
          at: shape.maybe(event, 'event_time'),
          refundId: shape.maybe(refundPart(row), 'refund_id'),
          paidOut,
        })
  if (type === 'SETTLEMENT') return payoutIn(row)
  // A part without a settlement is not settled yet.
  if (settlementId === null) return []
  const is_of_payout = isOfPayout(shape.maybe(event, 'adjustment_remarks'))
  if (id === null && is_of_payout) return []
  if (id === null) throw new UnreadableItem('its id is missing')
  const { fee, tax } = feesOf(row)
  return [
    {
      kind,
      id,
      formerly,
      is_of_payout,
      payment_id: paymentId,
      ...settlementIn(details, settlementId),
      amount: shape.given(event, 'event_amount', shape.amount) ?? '0',
      fee: fee ?? '0.00',
      tax: tax ?? '0.00',
      paid_out: paidOut,
    },
  ]
}

function payoutIn(row: unknown): ApiSettlement[] {
  const details = part(row, 'settlement_details')
  const event = eventOf(row)
  const id = shape.maybe(details, 'cf_settlement_id')
  const stated =
    shape.given(details, 'amount_settled', shape.amount) ??
    shape.given(event, 'amount_settled', shape.amount)
  const total = paidOutOf(stated, shape.maybe(event, 'event_status'))
  if (id === null || total === null || shape.maybe(event, 'event_type') !== 'SETTLEMENT') return []
  const nothing = { payment_id: null, fee: '0.00', tax: '0.00' }
  return [
    {
      kind: 'payout',
      id,
      ...nothing,
      ...settlementIn(details, id),
      amount: total,
      paid_out: total,
    },
  ]
}

function settlementIn(details: unknown, settlement_id: string) {
  return {
    settlement_id,
    settled_at: shape.given(details, 'settlement_date', shape.isoTimeOrDay),
    utr: shape.maybe(details, 'settlement_utr') ?? shape.maybe(details, 'utr'),
  }
}

function signedIn(event: unknown, name: string): string | null {
  const amount = shape.given(event, name, shape.amount)
  return amount === null ? null : signed(amount, shape.maybe(event, 'sale_type'))
}
