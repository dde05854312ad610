import type { RouteOptions } from 'fastify'
import { within } from '../../database/within.ts'

/** The rest of five seconds is left for sending the page. */
const PATIENCE_MS = 4_000

/** An onRoute hook: loading and rendering each get a share of the time, even if the database hangs. */
export function answerInTime(route: RouteOptions): void {
  if (route.config?.takesLong === true) return
  const { handler } = route
  route.handler = function (request, reply) {
    return withinPatience(handler.call(this, request, reply) as Promise<unknown>, request.startedAt)
  }
}

export function withinPatience<T>(work: Promise<T>, since: number): Promise<T> {
  const left = since + PATIENCE_MS - performance.now()
  return within(Math.max(left, 0), work, 'the database does not answer in time')
}
