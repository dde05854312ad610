import type { FaultRule } from '../../src/sandbox/faults/rule.ts'

/** How the ledger misbehaves, and how often. Faults that take a minute or a person to resolve are covered by the tests. */
export const FAULTS: FaultRule[] = [
  { kind: 'latency', ms: [1, 40], rate: 0.5 },
  { kind: 'latency', ms: [200, 1_200], rate: 0.01 },
  { kind: 'drop', rate: 0.02, match: { on: 'writes' } },
  { kind: 'reset', rate: 0.02 },
  { kind: 'error', status: 500, rate: 0.01 },
  { kind: 'error', status: 500, when: 'after', rate: 0.01, match: { on: 'writes' } },
  { kind: 'error', status: 502, when: 'after', rate: 0.01, match: { on: 'writes' } },
  { kind: 'error', status: 503, rate: 0.01 },
  { kind: 'error', status: 503, when: 'after', rate: 0.01, match: { on: 'writes' } },
  { kind: 'conflict', rate: 0.01, match: { on: 'writes' } },
  { kind: 'locked', rate: 0.01, match: { on: 'writes' } },
  { kind: 'tooMany', rate: 0.01 },
  { kind: 'stuck', seconds: 2, rate: 0.005, match: { on: 'writes' } },
  { kind: 'stuck', seconds: 2, applied: true, rate: 0.005, match: { on: 'writes' } },
  { kind: 'hang', rate: 0.002 },
  { kind: 'hang', applied: true, rate: 0.002, match: { on: 'writes' } },
]
