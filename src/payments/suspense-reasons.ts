/**
 * `refusal`: a repayment is refused for it. `retried`: a later batch may succeed, because the loan may be created or
 * disbursed by then, or the ledger or our settings corrected.
 */
type Trait = 'assignable' | 'reversible' | 'refusal' | 'retried'

const TRAITS = {
  no_loan_named: ['assignable'],
  loan_unknown: ['assignable', 'refusal', 'retried'],
  loan_not_active: ['assignable', 'refusal', 'retried'],
  currency_mismatch: ['refusal'],
  lender_mismatch: ['assignable', 'refusal'],
  signature_not_verified: ['assignable', 'refusal'],
  sender_not_allowed: ['refusal', 'retried'],
  events_disagree: ['refusal'],
  refund: ['reversible'],
  chargeback: ['reversible'],
  amount_invalid: ['refusal'],
  unreadable: [],
  // The ledger's own refusal, which has no code of LoanOps.
  ledger_refused: ['assignable', 'retried'],
  unknown_event: [],
  awaiting_review: ['assignable', 'refusal'],
  not_at_gateway: [],
  missing_at_ledger: ['assignable'],
  reversed_at_ledger: ['assignable', 'refusal'],
  overpaid: [],
  reversal_refused: ['reversible', 'refusal'],
} as const satisfies Record<string, readonly Trait[]>

export type Reason = keyof typeof TRAITS
type OwnRefusal = {
  [R in Reason]: 'refusal' extends (typeof TRAITS)[R][number] ? R : never
}[Reason]

export const REASONS = Object.keys(TRAITS) as Reason[]
export const ASSIGNABLE = REASONS.filter(one => reasonIs('assignable', one))
/** The refusal's code is `loanops.<reason>`. */
export const OWN_REFUSALS = REASONS.filter(one => reasonIs('refusal', one)) as OwnRefusal[]

export function reasonIs(trait: Trait, reason: string | null): boolean {
  const traits: Record<string, readonly Trait[]> = TRAITS
  return traits[reason ?? '']?.includes(trait) ?? false
}
