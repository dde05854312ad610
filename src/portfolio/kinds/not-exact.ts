import type { LedgerCurrency } from '../../ledger/loan.ts'
import { roundingRefusal } from '../../operations/rounding-refusal.ts'

/** As a run refuses it. */
export function notExact(currency: LedgerCurrency | undefined, amount: number | string): string[] {
  const rounded = currency && roundingRefusal(currency, amount)
  return rounded === undefined ? [] : [rounded.body.defaultUserMessage]
}
