import type { RouteOptions } from 'fastify'
import { type Turns, turns } from '../../accounts/throttling/turns.ts'
import { Unavailable } from '../../database/unavailable.ts'
import { within } from '../../database/within.ts'
import { isSafe } from '../session/cross-origin.ts'

/** The rest of five seconds is left for sending the page. */
const PATIENCE_MS = 4_000
const LATE = 'the database does not answer in time'
/** Some forms read the ledger before they change anything. */
const LATE_FORM = 'the database or the ledger does not answer in time'
/** One of the console's connections is left to the pages of others. */
const PAGES_OF_ONE = 3

/**
 * An onRoute hook: loading and rendering each get a share of the time, even if the database hangs. Somebody who loads
 * many pages at once does not keep those of others waiting.
 */
export function answerInTime(): (route: RouteOptions) => void {
  const lines = new Map<string, Turns>()
  return route => {
    if (route.config?.takesLong === true) return
    const { handler } = route
    route.handler = function (request, reply) {
      const { user, startedAt } = request
      const isForm = !isSafe(request)
      const answer = () => {
        const page = handler.call(this, request, reply) as Promise<unknown>
        return withinPatience(page, startedAt, isForm ? LATE_FORM : LATE)
      }
      if (isForm || user === null) return answer()
      const line = lines.get(user.sub) ?? turns(PAGES_OF_ONE, Number.POSITIVE_INFINITY)
      lines.set(user.sub, line)
      const inTurn = line(async () => {
        // Whoever requested the page has had an answer by then.
        if (leftSince(startedAt) <= 0) throw new Unavailable(LATE)
        return answer()
      })
      return withinPatience(inTurn, startedAt)
    }
  }
}

export function withinPatience<T>(work: Promise<T>, since: number, late = LATE): Promise<T> {
  return within(Math.max(leftSince(since), 0), work, late)
}

const leftSince = (startedAt: number) => startedAt + PATIENCE_MS - performance.now()
