const KINDS = `latency drop reset stuck conflict locked error unauthorized tooMany makerChecker
  hang`.split(/\s+/)

/**
 * Only `kind` is required. PUT {controlUrl}/faults takes a list of rules; the request header X-Sandbox-Fault
 * takes one rule, or just its kind.
 */
export type FaultRule = {
  // latency: answers late. drop: applies, then closes without an answer. reset: closes before applying.
  // stuck: 425, and so does every later call with the same key. conflict: 409, stored under the key.
  // locked: 409 as during close of business, not stored. error: 500, 502 or 503. unauthorized: 401.
  // tooMany: 429. makerChecker: 200 with rollbackTransaction. hang: never answers.
  kind: string
  // Latency, or its range.
  ms?: number | [number, number]
  // For error.
  status?: 500 | 502 | 503
  // For latency and error: before the effect (default) or after it.
  when?: 'before' | 'after'
  // For stuck: how long it lasts; indefinitely by default.
  seconds?: number
  // For stuck and hang: whether the write takes effect (default: no).
  applied?: boolean
  // For tooMany and error: the Retry-After header; one second for tooMany by default.
  retryAfter?: string
  match?: {
    method?: string
    // A regular expression for the path below /api/v1.
    path?: string
    // Of the loan or client, from the path or from the body of a create.
    externalId?: string
    on?: 'reads' | 'writes'
  }
  // Stops after this many hits.
  times?: number
  // The share of matching requests to hit (0 to 1), drawn from the seed.
  rate?: number
}

export function ruleOf(value: unknown): FaultRule {
  const kind = (value as Partial<FaultRule> | null)?.kind
  if (typeof kind !== 'string' || !KINDS.includes(kind)) {
    throw new Error(`kind must be one of ${KINDS.join(', ')}, not ${JSON.stringify(kind)}`)
  }
  const rule = value as FaultRule
  if (rule.match?.path !== undefined) new RegExp(rule.match.path)
  return rule
}

export function ruleOfHeader(header: string): FaultRule {
  return ruleOf(header.startsWith('{') ? JSON.parse(header) : { kind: header })
}
