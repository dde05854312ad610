import { at } from './exact-json.ts'
import type {
  ApiPage,
  ApiPayment,
  ApiReversal,
  ApiSettlement,
  GatewayApi,
  Window,
} from './gateway-api.ts'
import { GatewayRefused, openGatewayCaller } from './gateway-call.ts'
import { shape } from './shape.ts'

const ITEMS_PER_PAGE = 100
const ROWS_PER_RECON_PAGE = 1_000
const DAY_MS = 86_400_000
const INDIA_MS = 5.5 * 3_600_000

/** `fee` includes the tax. */
const STATUSES: Record<string, ApiPayment['status']> = {
  created: 'pending',
  authorized: 'pending',
  captured: 'captured',
  // Given back in full after it was captured: the money did come.
  refunded: 'refunded',
  failed: 'failed',
}

/** @param url up to and with /v1 */
export function openGatewayA(url: string, key: string, secret: string): GatewayApi {
  const authorization = `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`
  const caller = openGatewayCaller(url, { authorization })
  const get = (path: string) => caller.call({ method: 'GET', path })

  return {
    async *pages(window) {
      const range = `from=${unix(window.from)}&to=${unix(window.to)}`
      for await (const items of collection(`/payments?${range}`))
        yield { ...empty, payments: items.map(paymentOf) }
      for await (const items of collection(`/refunds?${range}`))
        yield { ...empty, reversals: items.map(item => reversalOf('refund', item)) }
      // They cannot be asked for by day.
      for await (const items of collection('/disputes?'))
        yield {
          ...empty,
          reversals: within(items, window).map(item => reversalOf('chargeback', item)),
        }
    },
    async payment(id) {
      const item = await found(get(`/payments/${encodeURIComponent(id)}`))
      return item === undefined ? undefined : paymentOf(item)
    },
    order: orderId => found(get(`/orders/${encodeURIComponent(orderId)}`)),
    async *settled(window) {
      for (const { year, month, day } of daysOf(window)) {
        const path = `/settlements/recon/combined?year=${year}&month=${month}&day=${day}`
        for await (const rows of collection(path, ROWS_PER_RECON_PAGE))
          yield rows.filter(row => at(row, 'type') === 'payment').map(settlementOf)
      }
    },
    close: caller.close,
  }

  /** Newest first: what comes meanwhile moves the rest down, so that an item may come twice, and none is missed. */
  async function* collection(path: string, count = ITEMS_PER_PAGE) {
    for (let skip = 0; ; skip += count) {
      const items = shape.list(await get(`${path}&count=${count}&skip=${skip}`), 'items')
      yield items
      if (items.length < count) return
    }
  }
}

const empty: ApiPage = { payments: [], reversals: [], settlements: [] }
const unix = (time: Date) => Math.floor(time.getTime() / 1_000)

/** The gateway answers 400, not 404, for an id that it does not have. */
async function found(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof GatewayRefused && [400, 404].includes(error.status)) return undefined
    throw error
  }
}

function paymentOf(item: unknown): ApiPayment {
  const fee = shape.maybe(item, 'fee')
  const tax = shape.maybe(item, 'tax')
  return {
    id: shape.text(item, 'id'),
    amount: shape.minor(item, 'amount'),
    currency: shape.text(item, 'currency'),
    status: STATUSES[shape.text(item, 'status')] ?? 'pending',
    paidAt: shape.unixTime(item, 'created_at'),
    fee: fee && shape.minor(item, 'fee'),
    tax: tax && shape.minor(item, 'tax'),
    orderId: shape.maybe(item, 'order_id'),
    hasTags: namesLoan(at(item, 'notes')),
    item,
  }
}

function namesLoan(notes: unknown): boolean {
  return ['external_loan_id', 'loan_id'].some(name => shape.maybe(notes, name) !== null)
}

function reversalOf(kind: ApiReversal['kind'], item: unknown): ApiReversal {
  return { kind, id: shape.text(item, 'id'), paymentId: shape.text(item, 'payment_id'), item }
}

function within(items: unknown[], { from, to }: Window): unknown[] {
  return items.filter(item => {
    const created = shape.unixTime(item, 'created_at')
    return created >= from && created <= to
  })
}

function settlementOf(row: unknown): ApiSettlement {
  return {
    paymentId: shape.text(row, 'entity_id'),
    settlementId: shape.text(row, 'settlement_id'),
    settledAt: shape.maybe(row, 'settled_at') === null ? null : shape.unixTime(row, 'settled_at'),
    utr: shape.maybe(row, 'settlement_utr'),
    fee: shape.minor(row, 'fee'),
    tax: shape.minor(row, 'tax'),
  }
}

/** The gateway's days are India's. */
function daysOf({ from, to }: Window) {
  const days: { year: number; month: number; day: number }[] = []
  const startOfDay = (time: Date) => Math.floor((time.getTime() + INDIA_MS) / DAY_MS)
  for (let day = startOfDay(from); day <= startOfDay(to); day++) {
    const local = new Date(day * DAY_MS)
    days.push({
      year: local.getUTCFullYear(),
      month: local.getUTCMonth() + 1,
      day: local.getUTCDate(),
    })
  }
  return days
}
