import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { openUnanswered } from './unanswered.ts'

export type OpenCounters<Counters extends object = object> = (registers: Registry[]) => Counters

export type Metrics = ReturnType<typeof openMetrics>

/** The timer and observer of this registry cannot be stopped, so every start in this process shares it. */
let ofProcess: Registry | undefined

/** Labels never contain ids, names or any other text from a caller. */
export function openMetrics(features: OpenCounters[] = []) {
  const registry = new Registry()
  const registers = [registry]
  ofProcess ??= defaultMetrics()
  const parts = [ofProcess, registry]
  const opened = new Map<OpenCounters, object>()
  for (const open of features) of(open)
  return {
    registry,
    text: async () => (await Promise.all(parts.map(part => part.metrics()))).join('\n'),
    of,
    unanswered: openUnanswered(registers),
    commitWait: new Histogram({
      name: 'loanops_commit_wait_seconds',
      help: 'How long the first item of a group waited until the group was committed, by what was committed',
      labelNames: ['of'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
  }

  function of<Counters extends object>(open: OpenCounters<Counters>): Counters {
    const counters = opened.get(open) ?? open(registers)
    opened.set(open, counters)
    return counters as Counters
  }
}

function defaultMetrics(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}
