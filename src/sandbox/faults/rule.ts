const KINDS = `latency drop reset stuck conflict locked error unauthorized tooMany makerChecker
  hang`.split(/\s+/)

/**
 * How the ledger is told to misbehave. All but `kind` is optional; PUT {controlUrl}/faults takes a
 * list of these, the request header X-Sandbox-Fault takes one, or only its kind.
 */
export type FaultRule = {
  // latency: answer late. drop: apply, then close without an answer. reset: close before applying.
  // stuck: 425, and the key stays so. conflict: 409, kept under the key. locked: 409 of the close of
  // business, not kept. error: 500, 502 or 503. unauthorized: 401. tooMany: 429.
  // makerChecker: 200 with rollbackTransaction. hang: never answer.
  kind: string
  // Milliseconds of latency, or its range.
  ms?: number | [number, number]
  // Of an error.
  status?: 500 | 502 | 503
  // Of latency and error: before the effect (the rule) or after it.
  when?: 'before' | 'after'
  // Of stuck: for how long; for ever unless it is said.
  seconds?: number
  // Of stuck and hang: with the effect or without it (the rule).
  applied?: boolean
  match?: {
    method?: string
    // A regular expression on the path below /api/v1.
    path?: string
    // Of the loan or client in the path, or in the body of a create.
    externalId?: string
    on?: 'reads' | 'writes'
  }
  // Only the next so many.
  times?: number
  // Of those that match, this part (0 to 1), drawn from the seed.
  rate?: number
}

export function ruleOf(value: unknown): FaultRule {
  const kind = (value as Partial<FaultRule> | null)?.kind
  if (typeof kind !== 'string' || !KINDS.includes(kind)) {
    throw new Error(`kind is one of ${KINDS.join(', ')}, not ${JSON.stringify(kind)}`)
  }
  const rule = value as FaultRule
  if (rule.match?.path !== undefined) new RegExp(rule.match.path)
  return rule
}

export function ruleOfHeader(header: string): FaultRule {
  return ruleOf(header.startsWith('{') ? JSON.parse(header) : { kind: header })
}
