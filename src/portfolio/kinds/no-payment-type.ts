import type { ReferenceData } from '../../ledger/reference/reference.ts'

/**
 * Why there is no payment type. Until somebody has defined it, a run waits, because the ledger would drop the receipt
 * number.
 */
export async function whyNoPaymentType(reference: ReferenceData): Promise<string[]> {
  return (await reference.hasPaymentType())
    ? []
    : ['the ledger has no payment type for it (LEDGER_PAYMENT_TYPE)']
}
