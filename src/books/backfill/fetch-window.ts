import { DAY_MS } from '../../day.ts'
import type {
  ApiPage,
  GatewayApi,
  SettlementPage,
  Window,
} from '../../payments/gateways/gateway-api.ts'
import { GatewayUnavailable } from '../../payments/gateways/items/gateway-errors.ts'
import { isUnsaid, type Unsaid } from './fetch.ts'
import { fetchAhead } from './fetch-ahead.ts'

/** At most this much is read again after a crash. No gateway gives more than 30 days at once. */
const DAYS_AT_ONCE = 1

type Saver = {
  check(): void
  /** @returns what the gateway did not say about one of the payments */
  pages(pages: ApiPage[], count: number): Promise<Unsaid | undefined>
  settlements(page: SettlementPage): Promise<void>
  end(part: Window, count: number): Promise<void>
}

type Step =
  | { kind: 'page'; page: ApiPage }
  | { kind: 'settlements'; page: SettlementPage }
  | { kind: 'end'; part: Window; isWhole: boolean }

/**
 * Fetches the next day while the last one is still being stored.
 * @throws what the gateway did not say about a payment, once all others were stored
 */
export async function fetchWindow(api: GatewayApi, window: Window, count: number, saver: Saver) {
  const counter = paymentCounter(count)
  let unsaid: Unsaid | undefined
  for await (const steps of fetchAhead(stepsOf(api, window)))
    for (const group of groupsOf(steps)) {
      saver.check()
      const [first] = group
      if (first.kind === 'settlements') await saver.settlements(first.page)
      else if (first.kind === 'end') {
        const counted = counter.endPart()
        if (first.isWhole && unsaid === undefined) await saver.end(first.part, counted)
      } else {
        const pages = group.flatMap(step => (step.kind === 'page' ? step.page : []))
        const ofPages = await saver.pages(pages, counter.add(pages))
        unsaid ??= ofPages
      }
    }
  if (unsaid !== undefined) throw unsaid
}

/**
 * @throws what the gateway did not say, once all payments were read: an account may be refused its settlements or disputes, or
 * their list may fail for weeks
 */
async function* stepsOf(api: GatewayApi, window: Window): AsyncGenerator<Step> {
  let unsaid: Unsaid | undefined
  const failing = new Set<number>()
  for (const part of partsOf(window)) {
    let hasPayments = false
    const lists = [...api.lists(part, part.to >= window.to).map(pagesOf), settledOf(api, part)]
    for (const [place, steps] of lists.entries()) {
      if (failing.has(place)) continue
      try {
        for await (const step of steps) {
          hasPayments = true
          yield step
        }
      } catch (error) {
        if (!(hasPayments && isUnsaid(error))) throw error
        unsaid ??= error
        // Asking a list that keeps failing takes minutes: only the payments, listed first, are asked for again.
        if (place > 0 && error instanceof GatewayUnavailable) failing.add(place)
      }
    }
    yield { kind: 'end', part, isWhole: unsaid === undefined }
  }
  if (unsaid !== undefined) throw unsaid
}

async function* pagesOf(list: AsyncIterable<ApiPage>): AsyncGenerator<Step> {
  for await (const page of list) {
    yield { kind: 'page', page }
    const { payouts: settlements = [] } = page
    if (settlements.length > 0) yield { kind: 'settlements', page: { settlements, unreadable: [] } }
  }
}

async function* settledOf(api: GatewayApi, part: Window): AsyncGenerator<Step> {
  for await (const page of api.settled(part)) yield { kind: 'settlements', page }
}

function groupsOf(steps: Step[]): [Step, ...Step[]][] {
  const groups: [Step, ...Step[]][] = []
  for (const step of steps) {
    const last = groups.at(-1)
    if (step.kind === 'page' && last?.[0].kind === 'page') last.push(step)
    else groups.push([step])
  }
  return groups
}

function* partsOf({ from, to }: Window): Iterable<Window> {
  for (let start = from; ; ) {
    const end = new Date(Math.min(start.getTime() + DAYS_AT_ONCE * DAY_MS, to.getTime()))
    yield { from: start, to: end }
    if (end >= to) return
    start = end
  }
}

/** An item may come twice: at the edge of two parts, or when the list shifts while it is read. */
function paymentCounter(before: number) {
  let count = before
  let ofLastPart = new Set<string>()
  let ofPart = new Set<string>()
  return {
    add(pages: ApiPage[]): number {
      for (const { id } of pages.flatMap(({ payments }) => payments)) {
        if (!ofPart.has(id) && !ofLastPart.has(id)) count++
        ofPart.add(id)
      }
      return count
    },
    endPart(): number {
      ofLastPart = ofPart
      ofPart = new Set()
      return count
    },
  }
}
