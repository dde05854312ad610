import { dice } from './dice.ts'
import { type FaultRule, ruleOfHeader } from './rule.ts'

export type CallFacts = {
  method: string
  path: string
  write: boolean
  // A function, because only some rules need it and it costs a search of the body.
  externalId(): string | undefined
}

export type Injection = {
  delayBeforeMs: number
  delayAfterMs: number
  fault: FaultRule | undefined
}

const NONE: Injection = { delayBeforeMs: 0, delayAfterMs: 0, fault: undefined }

/** Each rule has its own random numbers, so that its nth request does not depend on the other rules. */
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

  // The latencies of all matching rules add up; of the other kinds, the first match wins.
  injectionFor(call: CallFacts, header: string | undefined): Injection {
    if (this.#rules.length === 0 && header === undefined) return NONE
    const injection: Injection = { ...NONE }
    if (header !== undefined) inject(injection, ruleOfHeader(header), dice(this.#seed))
    for (const entry of this.#rules) {
      const { rule, draw } = entry
      if (injection.fault !== undefined && rule.kind !== 'latency') continue
      if (rule.times !== undefined && entry.hits >= rule.times) continue
      if (!matches(rule, entry.path, call)) continue
      if (rule.rate !== undefined && draw() >= rule.rate) continue
      entry.hits++
      inject(injection, rule, draw)
    }
    return injection
  }
}

function inject(injection: Injection, rule: FaultRule, draw: () => number): void {
  if (rule.kind !== 'latency') {
    injection.fault = rule
    return
  }
  const [least, most] = Array.isArray(rule.ms) ? rule.ms : [rule.ms ?? 0, rule.ms ?? 0]
  const ms = least + Math.round((most - least) * draw())
  if (rule.when === 'after') injection.delayAfterMs += ms
  else injection.delayBeforeMs += ms
}

function matches(rule: FaultRule, path: RegExp | undefined, call: CallFacts): boolean {
  const { method, externalId, on } = rule.match ?? {}
  return (
    (method === undefined || method === call.method) &&
    (on === undefined || (on === 'writes') === call.write) &&
    (path === undefined || path.test(call.path)) &&
    (externalId === undefined || externalId === call.externalId())
  )
}
