import { textOfIso } from '../../day.ts'
import { sortable } from '../../ledger/day-format.ts'
import type { LedgerCurrency } from '../../ledger/loans/loan.ts'
import type { ReferenceData } from '../../ledger/reference/reference.ts'
import { roundingRefusal } from '../../operations/rounding-refusal.ts'

/** @param day as `dd MMMM yyyy` @param businessDate as `YYYY-MM-DD` */
export function futureDay(column: string, day: string, businessDate: string): string[] {
  return sortable(day) > businessDate
    ? [`${column} is in the future: the ledger’s business date is ${textOfIso(businessDate)}`]
    : []
}

/** The refusal of a run for an amount that the currency cannot have. */
export function notExact(currency: LedgerCurrency | undefined, amount: number | string): string[] {
  const rounded = currency && roundingRefusal(currency, amount)
  return rounded === undefined ? [] : [rounded.body.defaultUserMessage]
}

/**
 * Why there is no payment type. Until somebody has defined it, a run waits, because the ledger would drop the receipt
 * number.
 */
export async function whyNoPaymentType(reference: ReferenceData): Promise<string[]> {
  return (await reference.hasPaymentType())
    ? []
    : ['the ledger has no payment type for it (LEDGER_PAYMENT_TYPE)']
}
