import { refusal } from '../engine/refusal.ts'
import { type LedgerCurrency, roundingIn } from '../ledger/loans/loan.ts'

export const NOT_EXACT = 'loanops.amount.not.exact'

export function roundingRefusal(currency: LedgerCurrency, amount: number | string | undefined) {
  const rounding = amount === undefined ? undefined : roundingIn(currency, amount)
  return rounding === undefined ? undefined : refusal('400', NOT_EXACT, rounding)
}
