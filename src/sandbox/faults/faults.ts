import { dice } from './dice.ts'
import { type FaultRule, ruleOfHeader } from './rule.ts'

export type Asked = {
  method: string
  path: string
  write: boolean
  // Called only when a rule wants to know.
  externalId(): string | undefined
}

export type Fate = {
  delayBeforeMs: number
  delayAfterMs: number
  fault: FaultRule | undefined
}

const SPARED: Fate = { delayBeforeMs: 0, delayAfterMs: 0, fault: undefined }

/**
 * Which fault meets a request. Every rule draws from dice of its own, so that what befalls its nth
 * request does not depend on the other rules.
 */
export class Faults {
  #rules: { rule: FaultRule; path: RegExp | undefined; hits: number; draw: () => number }[] = []
  #seed = 1

  constructor(seed: number) {
    this.set([], seed)
  }

  set(rules: FaultRule[], seed = this.#seed): void {
    this.#seed = seed
    this.#rules = []
    for (const rule of rules) this.add(rule)
  }

  add(rule: FaultRule): void {
    const { path } = rule.match ?? {}
    this.#rules.push({
      rule,
      path: path === undefined ? undefined : new RegExp(path),
      hits: 0,
      draw: dice(this.#seed * 1_000 + this.#rules.length),
    })
  }

  view() {
    return { seed: this.#seed, rules: this.#rules.map(({ rule, hits }) => ({ ...rule, hits })) }
  }

  // The latencies of all rules that strike add up; of the others the first one strikes.
  fate(asked: Asked, header: string | undefined): Fate {
    if (this.#rules.length === 0 && header === undefined) return SPARED
    const fate: Fate = { ...SPARED }
    if (header !== undefined) strike(fate, ruleOfHeader(header), dice(this.#seed))
    for (const entry of this.#rules) {
      const { rule, draw } = entry
      if (fate.fault !== undefined && rule.kind !== 'latency') continue
      if (rule.times !== undefined && entry.hits >= rule.times) continue
      if (!matches(rule, entry.path, asked)) continue
      if (rule.rate !== undefined && draw() >= rule.rate) continue
      entry.hits++
      strike(fate, rule, draw)
    }
    return fate
  }
}

function strike(fate: Fate, rule: FaultRule, draw: () => number): void {
  if (rule.kind !== 'latency') {
    fate.fault = rule
    return
  }
  const [least, most] = Array.isArray(rule.ms) ? rule.ms : [rule.ms ?? 0, rule.ms ?? 0]
  const ms = least + Math.round((most - least) * draw())
  if (rule.when === 'after') fate.delayAfterMs += ms
  else fate.delayBeforeMs += ms
}

function matches(rule: FaultRule, path: RegExp | undefined, asked: Asked): boolean {
  const { method, externalId, on } = rule.match ?? {}
  return (
    (method === undefined || method === asked.method) &&
    (on === undefined || (on === 'writes') === asked.write) &&
    (path === undefined || path.test(asked.path)) &&
    (externalId === undefined || externalId === asked.externalId())
  )
}
