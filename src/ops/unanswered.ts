import { Gauge, type Registry } from 'prom-client'

type Unanswered = { during<T>(of: string, call: () => Promise<T>): Promise<T> }

type Call = { at: number; endedAt?: number }

/** A call without an answer counts for this long after its end: otherwise, each repeat would begin at 0 again. */
const COUNTS_FOR_MS = 60_000

/** The gauge is measured at the scrape, so that a missing answer shows long before its call times out. */
export function openUnanswered(registers: Registry[]): Unanswered {
  const since = new Map<string, Set<Call>>([['ledger', new Set()]])
  new Gauge({
    name: 'loanops_unanswered_seconds',
    help: 'Age of this process’s oldest unanswered call, or of one that ended so within a minute, by callee; 0 if none',
    labelNames: ['of'],
    registers,
    collect() {
      const now = performance.now()
      for (const [of, calls] of since) {
        const ages = [...calls].map(({ at, endedAt = now }) => endedAt - at)
        this.set({ of }, Math.max(0, ...ages) / 1_000)
      }
    },
  })

  return {
    async during(of, call) {
      const calls = since.get(of) ?? new Set()
      since.set(of, calls)
      const one: Call = { at: performance.now() }
      calls.add(one)
      const forget = () => calls.delete(one)
      try {
        const answer = await call()
        forget()
        return answer
      } catch (error) {
        one.endedAt = performance.now()
        setTimeout(forget, COUNTS_FOR_MS).unref()
        throw error
      }
    },
  }
}
