import type { RouteOptions } from 'fastify'
import { Unavailable } from '../../database/unavailable.ts'

/** Somebody is waiting: after this long a page says that it cannot be had, and the rest of five seconds is for sending it. */
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
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Unavailable('the database does not answer in time')),
      Math.max(left, 0),
    )
  })
  // What is late may still fail, and nobody hears it.
  work.catch(() => undefined)
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
