import { DAY_MS } from '../../../day.ts'
import type {
  ApiPage,
  ApiPayment,
  ApiReturn,
  ApiSettlement,
  CallGateway,
  FoundPayment,
  GatewayReads,
  SettlementPage,
  Window,
} from '../gateway-api.ts'
import { distinctPages } from '../items/distinct-pages.ts'
import { at, textOf } from '../items/exact-json.ts'
import { found, type GatewayRefused, UnexpectedAnswer } from '../items/gateway-errors.ts'
import type { MajorUnits } from '../items/major-units.ts'
import { readEach } from '../items/read-each.ts'
import { flagOf, isRefunded, namesLoan, shape } from '../items/shape.ts'
import { apiPaymentPath, itemsOn, returnsOfA } from './returns.ts'
import { describeItemOfA } from './unreadable.ts'

const ITEMS_PER_PAGE = 100
const ROWS_PER_RECON_PAGE = 1_000
/** No window has more pages: beyond this, the gateway is ignoring `skip`. */
const MAX_PAGES = 20_000
/** How long after its beginning a dispute may end. */
const DISPUTE_MS = 120 * DAY_MS
/** The pages of one payment's refunds. Any one refund keeps the payment back, so that more need not be read. */
const MAX_PAGES_OF_ONE_PAYMENT = 10
const INDIA_MS = 5.5 * 3_600_000

export function readsOfA(call: CallGateway, majorUnits: MajorUnits): GatewayReads {
  const get = (path: string) => call({ method: 'GET', path })
  const find = (path: string) => found(get(path), isAbsent)
  const findIfAny = (path: string) => found(get(path), ({ status }) => [400, 404].includes(status))
  const collection = (path: string) => collected(get, path)
  const list = (path: string, count?: number) => distinctPages(collected(get, path, count))

  return {
    lists(window) {
      const range = `from=${unix(window.from)}&to=${unix(window.to)}`
      // Disputes cannot be queried by day, and end long after they began.
      const since = { from: new Date(window.from.getTime() - DISPUTE_MS), to: window.to }
      return [
        pagesOf(list(`/payments?${range}`), items => paymentsIn(items, window, majorUnits)),
        pagesOf(list(`/refunds?${range}`), items => returnsIn('refund', items, window)),
        pagesOf(list('/disputes?'), items => returnsIn('dispute', items, since)),
      ]
    },
    async payment(id) {
      const item = await find(apiPaymentPath(id))
      return item === undefined ? undefined : paymentOf(item, majorUnits)
    },
    refundsOf: payment => refundsOf(payment, collection),
    ...returnsOfA(find, () => collection('/disputes?')),
    order: orderId => findIfAny(`/orders/${encodeURIComponent(orderId)}`),
    async transfer({ id, orderId, statusFields: { method } }) {
      if (method === 'bank_transfer') return findIfAny(`${apiPaymentPath(id)}/bank_transfer`)
      // A payment to a virtual account's UPI address looks like any other payment without an order; but those have no
      // transfer.
      return method === 'upi' && orderId === null
        ? found(get(`${apiPaymentPath(id)}/upi_transfer`), ({ status }) => status !== 401)
        : undefined
    },
    async *settled(window) {
      for (const day of daysOf(window))
        for await (const rows of list(`/settlements/recon/combined?${day}`, ROWS_PER_RECON_PAGE))
          yield settlementsIn(rows, window, majorUnits)
    },
  }
}

/** The list is newest first: new items shift the rest down, so an item may come twice, but none is missed. */
async function* collected(
  get: (path: string) => Promise<unknown>,
  path: string,
  count = ITEMS_PER_PAGE,
) {
  for (let page = 0; page < MAX_PAGES; page++) {
    const items = itemsOn(await get(`${path}&count=${count}&skip=${page * count}`))
    yield items
    if (items.length < count) return
  }
  throw new UnexpectedAnswer('its list does not end')
}

async function refundsOf(
  payment: FoundPayment,
  collection: (path: string) => AsyncIterable<unknown[]>,
): Promise<Omit<ApiPage, 'payments'>> {
  if (!isRefunded(payment)) return { returns: [], unreadable: [] }
  const refunds: unknown[] = []
  let pages = 0
  for await (const items of collection(`${apiPaymentPath(payment.id)}/refunds?`)) {
    refunds.push(...items)
    if (++pages === MAX_PAGES_OF_ONE_PAYMENT) break
  }
  return returnsIn('refund', refunds, { from: payment.paidAt, to: payment.paidAt })
}

async function* pagesOf(
  list: AsyncIterable<unknown[]>,
  read: (items: unknown[]) => Omit<ApiPage, 'payments'> & Partial<ApiPage>,
): AsyncGenerator<ApiPage> {
  for await (const items of list) yield { payments: [], ...read(items) }
}

function paymentsIn(items: unknown[], window: Window, majorUnits: MajorUnits): ApiPage {
  const paymentIn = (item: unknown) => [paymentOf(item, majorUnits)]
  const { read, unreadable } = readEach(items, paymentIn, describeItemOfA('payment', window))
  return { payments: read, returns: [], unreadable }
}

/** The refunds, or those of the disputes that began in these times. */
function returnsIn(kind: ApiReturn['kind'], items: unknown[], times: Window) {
  const ofTimes = (item: unknown) =>
    kind === 'refund' || isWithin(item, times) ? returnOf(kind, item) : []
  const { read, unreadable } = readEach(items, ofTimes, describeItemOfA(kind, times))
  return { returns: read, unreadable }
}

function settlementsIn(rows: unknown[], window: Window, majorUnits: MajorUnits): SettlementPage {
  const settlementIn = (row: unknown) => settlementOf(row, majorUnits)
  const { read, unreadable } = readEach(rows, settlementIn, describeItemOfA('settlement', window))
  return { settlements: read, unreadable }
}

const unix = (time: Date) => Math.floor(time.getTime() / 1_000)

/** The gateway responds 400, not 404, to an id that it does not have, and 400 to much else that it refuses. */
const isAbsent = ({ status, isAboutId }: GatewayRefused) => [400, 404].includes(status) && isAboutId

function paymentOf(item: unknown, majorUnits: MajorUnits): ApiPayment {
  const currency = shape.text(item, 'currency')
  const amount = shape.whole(item, 'amount')
  return {
    id: shape.text(item, 'id'),
    amount: majorUnits(amount, currency),
    currency,
    statusFields: {
      status: shape.text(item, 'status'),
      captured: flagOf(at(item, 'captured')),
      method: textOf(at(item, 'method')),
    },
    paidAt: shape.unixTime(item, 'created_at'),
    ...feesOf(item, currency, majorUnits),
    refunded: majorUnits(refundedOf(item, amount), currency),
    orderId: shape.maybe(item, 'order_id'),
    hasTags: namesLoan(at(item, 'notes')),
    item,
  }
}

function refundedOf(item: unknown, amount: bigint): bigint {
  const said = shape.given(item, 'amount_refunded', shape.whole)
  return said ?? (shape.text(item, 'status') === 'refunded' ? amount : 0n)
}

/** The fee of these items includes the tax. */
function feesOf(item: unknown, currency: string | null, majorUnits: MajorUnits) {
  const fee = shape.given(item, 'fee', shape.whole)
  if (fee === null) return { fee: null, tax: null }
  const tax = shape.given(item, 'tax', shape.whole) ?? 0n
  return { fee: majorUnits(fee - tax, currency), tax: majorUnits(tax, currency) }
}

function returnOf(kind: ApiReturn['kind'], item: unknown): ApiReturn[] {
  for (const needed of ['id', 'payment_id', 'status']) shape.text(item, needed)
  return [{ kind, item }]
}

function isWithin(item: unknown, { from, to }: Window): boolean {
  const created = shape.unixTime(item, 'created_at')
  return created >= from && created <= to
}

function settlementOf(row: unknown, majorUnits: MajorUnits): ApiSettlement[] {
  const settlementId = shape.maybe(row, 'settlement_id')
  // An item is not settled yet if it names no settlement or has `settled: false`.
  if (settlementId === null || flagOf(at(row, 'settled')) === 'false') return []
  const currency = shape.maybe(row, 'currency')
  const { fee, tax } = feesOf(row, currency, majorUnits)
  const id = shape.text(row, 'entity_id')
  const type = shape.maybe(row, 'type')
  const kind = type === 'payment' || type === 'refund' ? type : 'other'
  const isStated = ['credit', 'debit'].every(name => shape.maybe(row, name) !== null)
  const paidOut = isStated ? shape.whole(row, 'credit') - shape.whole(row, 'debit') : null
  return [
    {
      kind,
      id,
      payment_id: kind === 'payment' ? id : shape.maybe(row, 'payment_id'),
      settlement_id: settlementId,
      settled_at: shape.given(row, 'settled_at', shape.unixTime),
      utr: shape.maybe(row, 'settlement_utr'),
      amount: majorUnits(shape.given(row, 'amount', shape.whole) ?? 0n, currency),
      fee: fee ?? '0.00',
      tax: tax ?? '0.00',
      paid_out: paidOut === null ? null : majorUnits(paidOut, currency),
    },
  ]
}

/** The gateway's days are India's. */
function* daysOf({ from, to }: Window): Iterable<string> {
  const startOfDay = (time: Date) => Math.floor((time.getTime() + INDIA_MS) / DAY_MS)
  for (let day = startOfDay(from); day <= startOfDay(to); day++) {
    const local = new Date(day * DAY_MS)
    yield `year=${local.getUTCFullYear()}&month=${local.getUTCMonth() + 1}&day=${local.getUTCDate()}`
  }
}
