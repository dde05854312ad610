import { Gauge, type Registry } from 'prom-client'

type Call = { at: number; endedAt?: number }

/** A call without an answer counts for this long after its end: otherwise, each repeat would begin at 0 again. */
const COUNTS_FOR_MS = 60_000
/** One that fails sooner was refused. */
const HUNG_AFTER_MS = 500

/** `silentSince`: when the first call began that hung until its end, if none was answered after it. */
type Callee = { calls: Set<Call>; silentSince?: number | undefined }

/** The gauge is measured at the scrape, so that a missing answer shows long before its call times out. */
export function openUnanswered(registers: Registry[]) {
  const callees = new Map<string, Callee>([['ledger', { calls: new Set() }]])
  new Gauge({
    name: 'loanops_unanswered_seconds',
    help: 'For how long a callee has left this process’s calls unanswered, or did so within the last minute; 0 if it answers',
    labelNames: ['of'],
    registers,
    collect() {
      const now = performance.now()
      for (const [of, { calls, silentSince = now }] of callees) {
        const ages = [...calls].map(({ at, endedAt = now }) => endedAt - Math.min(at, silentSince))
        this.set({ of }, Math.max(0, ...ages) / 1_000)
      }
    },
  })

  return {
    async during<T>(of: string, call: () => Promise<T>): Promise<T> {
      const callee = callees.get(of) ?? { calls: new Set() }
      callees.set(of, callee)
      const one: Call = { at: performance.now() }
      callee.calls.add(one)
      try {
        const answer = await call()
        callee.silentSince = undefined
        callee.calls.delete(one)
        return answer
      } catch (error) {
        one.endedAt = performance.now()
        if (one.endedAt - one.at >= HUNG_AFTER_MS) callee.silentSince ??= one.at
        setTimeout(forget, COUNTS_FOR_MS, callee, one).unref()
        throw error
      }
    },
  }
}

function forget(callee: Callee, call: Call) {
  callee.calls.delete(call)
  if (callee.calls.size === 0) callee.silentSince = undefined
}
