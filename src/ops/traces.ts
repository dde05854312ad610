import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Never names, numbers or any other text from a caller: traces leave the service. */
type Attributes = Record<string, string | number>

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

export type Traces = {
  /** The place that a stored traceparent names. */
  at(traceparent: string | null): Trace
  /** A new trace, linked to what a stored traceparent names. */
  linkedTo(traceparent: string | null): Trace
  ofRequest(request: FastifyRequest): Trace
  watch(app: FastifyInstance): void
  /** Sends what is still unsent, within a time limit. */
  stop(): Promise<void>
}
