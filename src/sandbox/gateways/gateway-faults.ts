import { dice } from '../faults/dice.ts'

/** `times` limits the hits; `rate` (0 to 1) is the share of calls to hit. */
type GatewayFault = {
  /** latency: answers late. error: a 5xx. tooMany: 429. hang: never answers. garbage: 200 with an unusable body. */
  kind: 'latency' | 'error' | 'tooMany' | 'hang' | 'reset' | 'garbage'
  ms?: number
  status?: number
  retryAfter?: string
  /** A regular expression on the path. */
  path?: string
  times?: number
  rate?: number
}

export class GatewayFaults {
  #faults: { fault: GatewayFault; hits: number }[] = []
  #draw = dice(1)

  set(faults: GatewayFault[], seed = 1): void {
    this.#faults = faults.map(fault => ({ fault, hits: 0 }))
    this.#draw = dice(seed)
  }

  meet(path: string): { delayMs: number; fault: GatewayFault | undefined } {
    let delayMs = 0
    for (const entry of this.#faults) {
      const { fault } = entry
      if (fault.times !== undefined && entry.hits >= fault.times) continue
      if (fault.path !== undefined && !new RegExp(fault.path).test(path)) continue
      if (fault.rate !== undefined && this.#draw() >= fault.rate) continue
      entry.hits++
      if (fault.kind !== 'latency') return { delayMs, fault }
      delayMs += fault.ms ?? 0
    }
    return { delayMs, fault: undefined }
  }
}
