import { Gauge, type Registry } from 'prom-client'

type Unanswered = { during<T>(of: string, call: () => Promise<T>): Promise<T> }

/** The gauge is measured at the scrape, so that a missing answer shows long before its call times out. */
export function openUnanswered(registers: Registry[]): Unanswered {
  const since = new Map<string, Set<{ at: number }>>([['ledger', new Set()]])
  new Gauge({
    name: 'loanops_unanswered_seconds',
    help: 'Age of this process’s oldest unanswered call, by callee; 0 if none',
    labelNames: ['of'],
    registers,
    collect() {
      for (const [of, calls] of since) {
        const [oldest] = calls
        this.set({ of }, oldest === undefined ? 0 : (performance.now() - oldest.at) / 1_000)
      }
    },
  })

  return {
    async during(of, call) {
      const calls = since.get(of) ?? new Set()
      since.set(of, calls)
      const one = { at: performance.now() }
      calls.add(one)
      try {
        return await call()
      } finally {
        calls.delete(one)
      }
    },
  }
}
