const KINDS = [
  // It answers late.
  'latency',
  // It applies the call, then closes the connection without an answer.
  'drop',
  // It closes the connection before it applies the call.
  'reset',
  // It answers 425, and so does every later call with the same key.
  'stuck',
  // It answers 409, and stores this under the key.
  'conflict',
  // It answers 409 as during close of business, and does not store this.
  'locked',
  // It answers 500, 502 or 503.
  'error',
  // It answers 401.
  'unauthorized',
  // It answers 429.
  'tooMany',
  // It answers 200 with rollbackTransaction.
  'makerChecker',
  // It never answers.
  'hang',
] as const

/**
 * Only `kind` is required. PUT {controlUrl}/faults takes a list of rules; the request header X-Sandbox-Fault
 * takes one rule, or just its kind.
 */
export type FaultRule = {
  kind: (typeof KINDS)[number]
  // How long a latency is, or the range of its length.
  ms?: number | [number, number]
  // The status of an error.
  status?: 500 | 502 | 503
  // Whether a latency or an error comes before the effect (default) or after it.
  when?: 'before' | 'after'
  // How long a call is stuck; indefinitely by default.
  seconds?: number
  // Whether a write that is stuck or hangs takes effect (default: no).
  applied?: boolean
  // The Retry-After header of tooMany and error; one second for tooMany by default.
  retryAfter?: string
  match?: {
    method?: string
    // A regular expression for the path below /api/v1.
    path?: string
    // The external id of the loan or client, from the path or from the body of a create.
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
  if (typeof kind !== 'string' || !KINDS.includes(kind))
    throw new Error(`kind must be one of ${KINDS.join(', ')}, not ${JSON.stringify(kind)}`)
  const rule = value as FaultRule
  if (rule.match?.path !== undefined) new RegExp(rule.match.path)
  return rule
}

export function ruleOfHeader(header: string): FaultRule {
  return ruleOf(header.startsWith('{') ? JSON.parse(header) : { kind: header })
}
