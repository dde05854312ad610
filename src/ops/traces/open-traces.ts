import type { Config } from '../../config/config.ts'
import type { Log } from '../../log/log.ts'
import { callersTraceparent } from './traceparent.ts'
import type { Trace, Traces } from './traces.ts'

/** Loads the SDK only if traces are sent somewhere. */
export async function openTraces(
  { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ROLE }: Config,
  log: Pick<Log, 'warn'>,
): Promise<Traces> {
  if (endpoint === undefined) return untraced
  const { openOtlpTraces } = await import('./otlp-traces.ts')
  return openOtlpTraces(endpoint, `loanops-${ROLE}`, log)
}

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
