import { type Refusal, refusal } from '../engine/refusal.ts'
import { isExactIn, type LedgerCurrency } from '../ledger/loans/loan.ts'

export const NOT_EXACT = 'loanops.amount.not.exact'

export function roundingRefusal(
  currency: LedgerCurrency,
  amount: number | string | undefined,
): Refusal | undefined {
  if (amount === undefined || isExactIn(currency, amount)) return undefined
  return refusal('400', NOT_EXACT, `The ledger would round ${amount} ${currency.code} on this loan`)
}
