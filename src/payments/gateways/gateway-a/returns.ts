import type { GatewayReads } from '../gateway-api.ts'
import { at, textOf } from '../items/exact-json.ts'
import { UnexpectedAnswer } from '../items/gateway-errors.ts'
import { itemIfReadable } from '../items/read-each.ts'
import { shape } from '../items/shape.ts'

const REFUNDS_PER_PAGE = 100
const MAX_PAGES_SEARCHED = 100
const MAX_PAGES_OF_DISPUTES = 100

/** @param ask yields undefined if the gateway has nothing at the path @param disputes newest first */
export function returnsOfA(
  ask: (path: string) => Promise<unknown>,
  disputes: () => AsyncIterable<unknown[]>,
): Pick<GatewayReads, 'refund' | 'dispute' | 'uncaptured'> {
  let newest: Promise<Map<string, unknown>> | undefined

  return {
    async refund(id, paymentId) {
      const item = await findRefund(`${apiPaymentPath(paymentId)}/refunds`, id)
      if (item === undefined) return undefined
      const payment = await uncaptured(paymentId)
      return payment === undefined ? { item } : { item, payment }
    },
    uncaptured,
    async dispute(id) {
      // No call finds a single dispute, so the list is read once, however many are asked for.
      newest ??= disputesById()
      return (await newest).get(id)
    },
  }

  async function uncaptured(id: string): Promise<unknown> {
    const payment = await ask(apiPaymentPath(id))
    return at(payment, 'captured') === false ? payment : undefined
  }

  async function findRefund(path: string, id: string): Promise<unknown> {
    for (let page = 0; page < MAX_PAGES_SEARCHED; page++) {
      const skip = page * REFUNDS_PER_PAGE
      const list = await ask(`${path}?count=${REFUNDS_PER_PAGE}&skip=${skip}`)
      const items = list === undefined ? [] : itemsOn(list)
      const item = items.find(one => idOf(one) === id)
      if (item !== undefined || items.length < REFUNDS_PER_PAGE) return item
    }
    // A refund that is not among those that were read may still be one.
    throw new UnexpectedAnswer('its list of refunds does not end')
  }

  async function disputesById() {
    const byId = new Map<string, unknown>()
    let pages = 0
    for await (const items of disputes()) {
      for (const item of items) byId.set(idOf(item) ?? '', item)
      if (++pages === MAX_PAGES_OF_DISPUTES) break
    }
    return byId
  }
}

/** The items of a page of a list. @throws if its `count` says that it has more: a short page would end the list without them */
export function itemsOn(page: unknown): unknown[] {
  const items = shape.list(page, 'items')
  if (Number(textOf(at(page, 'count'))) > items.length)
    throw new UnexpectedAnswer('a page of its list lacks items that it counts')
  return items
}

export const apiPaymentPath = (paymentId: string) => `/payments/${encodeURIComponent(paymentId)}`

/** The id of a refund or dispute; null for another item in the list, which is not asked for. */
const idOf = (item: unknown) => itemIfReadable(() => shape.text(item, 'id'))
