import type { RouteOptions } from 'fastify'
import { within } from '../../database/within.ts'

/** A person is waiting. After this time a page gives up and shows an error; the rest of the five seconds is for sending it. */
const PATIENCE_MS = 4_000

/** An onRoute hook that bounds how long a page may take, however long the database is silent. Each half gets its share. */
export function answerInTime(route: RouteOptions): void {
  if (route.config?.takesLong === true) return
  const { handler } = route
  route.handler = function (request, reply) {
    return withinPatience(handler.call(this, request, reply) as Promise<unknown>, request.startedAt)
  }
}

/** @param since when the request came, by `performance.now()` */
export function withinPatience<T>(work: Promise<T>, since: number): Promise<T> {
  const left = since + PATIENCE_MS - performance.now()
  return within(Math.max(left, 0), work, 'the database does not answer in time')
}
