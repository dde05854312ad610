import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../config/config.ts'

/** Never names, numbers or any other text from a caller: traces leave the service. */
export type Attributes = Record<string, string | number>

/** A place in a trace. */
export type Trace = {
  /** What calls made from here carry; null where nobody traces. */
  traceparent: string | null
  /** Runs the task as a part of its own, which it may describe further as it ends. */
  span<T>(
    part: Part,
    task: (inside: Trace, note: (more: Attributes) => void) => Promise<T>,
  ): Promise<T>
  /** Adds a part that is already over. */
  past(part: Part, from: Date, to: Date): void
}
export type Part = {
  name: string
  /** Whether it is a call to another service. */
  isCall?: boolean
  attributes: Attributes
}

/** The traces of one process. */
export type Traces = {
  /** The place that a stored traceparent names. */
  at(traceparent: string | null): Trace
  /** A new trace, linked to what a stored traceparent names. */
  linkedTo(traceparent: string | null): Trace
  ofRequest(request: FastifyRequest): Trace
  /** Adds a part for each request. */
  watch(app: FastifyInstance): void
  /** Sends what is still unsent, within a time limit. */
  stop(): Promise<void>
}

/** Opens the traces; the SDK is loaded only where they are sent somewhere. */
export async function openTraces(
  { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ROLE }: Config,
  log: { warn(object: object, message: string): void },
): Promise<Traces> {
  if (endpoint === undefined) return untraced
  const { openOtlpTraces } = await import('./otlp-traces.ts')
  return openOtlpTraces(endpoint, `loanops-${ROLE}`, log)
}

/** Passes on what callers send. */
const untraced: Traces = {
  at: passedOn,
  linkedTo: () => passedOn(null),
  ofRequest: request => passedOn(callersTraceparent(request)),
  watch() {},
  stop: () => Promise.resolve(),
}

function passedOn(traceparent: string | null): Trace {
  const trace: Trace = { traceparent, span: (_, task) => task(trace, ignore), past: ignore }
  return trace
}

function ignore() {}

const SHAPE =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** As W3C Trace Context defines it. A version later than ours may be followed by more. */
export function parseTraceparent(text: string) {
  const [, traceId, spanId, flags, more] = SHAPE.exec(text) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  if (more !== undefined && text.startsWith('00')) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 }
}

export function traceparentOf(place: { traceId: string; spanId: string; traceFlags: number }) {
  return `00-${place.traceId}-${place.spanId}-0${place.traceFlags & 1}`
}

/** Null if there is none; one that cannot be parsed starts a new trace. */
export function callersTraceparent({ headers }: FastifyRequest): string | null {
  const { traceparent } = headers
  if (traceparent === undefined) return null
  const place = parseTraceparent([traceparent].flat().join())
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')]
  return traceparentOf(place ?? { traceId, spanId, traceFlags: 1 })
}
