import type { LedgerCurrency } from '../../ledger/loans/loan.ts'
import { roundingRefusal } from '../../operations/rounding-refusal.ts'

/** The refusal of a run for an amount that the currency cannot have. */
export function notExact(currency: LedgerCurrency | undefined, amount: number | string): string[] {
  const rounded = currency && roundingRefusal(currency, amount)
  return rounded === undefined ? [] : [rounded.body.defaultUserMessage]
}
