import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Attributes are never names, numbers or any other text from a caller: traces leave the service. */
type Attributes = Record<string, string | number>

export type Trace = {
  traceparent: string | null
  span<T>(
    part: SpanPart,
    task: (inside: Trace, note: (more: Attributes) => void) => Promise<T>,
  ): Promise<T>
  past(part: SpanPart, from: Date, to: Date): void
}
export type SpanPart = { name: string; isCall?: boolean; attributes: Attributes }

export type Traces = {
  at(traceparent: string | null): Trace
  linkedTo(traceparent: string | null): Trace
  ofRequest(request: FastifyRequest): Trace
  watch(app: FastifyInstance): void
  stop(): Promise<void>
}
