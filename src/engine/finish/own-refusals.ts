import type { Claim } from '../claim/claim.ts'
import { type Refusal, refusal } from '../refusal.ts'

export const DEADLINE = 'deadline'

export function deadlineRefusal(seconds: number, { lastError }: Claim): Refusal {
  const why = lastError === null ? '' : `: ${lastError}`
  const message = `The ledger did not accept it within ${seconds} seconds${why}`
  return refusal('504', 'loanops.deadline', message, DEADLINE)
}

export const operatorsRefusal = refusal(
  '409',
  'loanops.resolved.by.operator',
  'An operator has declared this operation failed',
  'resolved_by_operator',
)

export const cancelledRefusal = refusal(
  '409',
  'loanops.cancelled',
  'An operator has cancelled this operation',
  'cancelled',
)
