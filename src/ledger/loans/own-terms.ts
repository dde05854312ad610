/**
 * Terms that a product may prescribe beside those that every request repeats. The ledger gives such a term to a loan
 * only if the request carries it, and an update makes the schedule without what is not sent again. Each has one name
 * in products, loans and requests.
 */
const TERMS = [
  'graceOnPrincipalPayment',
  'graceOnInterestPayment',
  'graceOnInterestCharged',
  'inArrearsTolerance',
  'graceOnArrearsAgeing',
  'isEqualAmortization',
  'fundId',
  'fixedEmiAmount',
  'fixedPrincipalPercentagePerInstallment',
] as const

export type OwnTerms = { [Term in (typeof TERMS)[number]]?: number | boolean }

export function ownTerms(holder: OwnTerms): OwnTerms {
  return Object.fromEntries(TERMS.flatMap(term => (holder[term] ? [[term, holder[term]]] : [])))
}
