import { Decimal } from 'decimal.js'
import type { ApprovalRule } from '../../config/approval-rules.ts'
import type { Part } from './act-call.ts'

/** Whether a rule covers a part: one without a known amount is above any amount. */
export function isCovered(rules: ApprovalRule[], parts: Part[]): boolean {
  return parts.some(({ act, amount }) =>
    rules.some(
      ({ act: covered, above }) =>
        act === covered &&
        (above === null || amount === null || new Decimal(amount).greaterThan(above)),
    ),
  )
}
