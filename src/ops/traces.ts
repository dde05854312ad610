import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Never names, numbers or any other text from a caller: traces leave the service. */
type Attributes = Record<string, string | number>

export type Trace = {
  /** The header for calls made from here; null if traces are off. */
  traceparent: string | null
  /** `note` adds attributes to the task's span. */
  span<T>(
    part: Part,
    task: (inside: Trace, note: (more: Attributes) => void) => Promise<T>,
  ): Promise<T>
  /** Adds a span that has already ended. */
  past(part: Part, from: Date, to: Date): void
}
export type Part = {
  name: string
  /** Whether it is a call to another service. */
  isCall?: boolean
  attributes: Attributes
}

export type Traces = {
  /** The span that a stored traceparent names. */
  at(traceparent: string | null): Trace
  /** A new trace, linked to the span that a stored traceparent names. */
  linkedTo(traceparent: string | null): Trace
  ofRequest(request: FastifyRequest): Trace
  watch(app: FastifyInstance): void
  /** Sends the remaining spans, within a time limit. */
  stop(): Promise<void>
}
