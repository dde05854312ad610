import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

const SHAPE =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** The parts of a traceparent, as W3C Trace Context defines it. A version later than ours may be followed by more. */
export function parseTraceparent(text: string) {
  const [, traceId, spanId, flags, more] = SHAPE.exec(text) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  if (more !== undefined && text.startsWith('00')) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 }
}

export function traceparentOf(place: { traceId: string; spanId: string; traceFlags: number }) {
  return `00-${place.traceId}-${place.spanId}-0${place.traceFlags & 1}`
}

/** The caller's traceparent, null if there is none; one that cannot be parsed starts a new trace. */
export function callersTraceparent({ headers }: FastifyRequest): string | null {
  const { traceparent } = headers
  if (traceparent === undefined) return null
  const place = parseTraceparent([traceparent].flat().join())
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')]
  return traceparentOf(place ?? { traceId, spanId, traceFlags: 1 })
}
