import { Decimal } from 'decimal.js'
import { sql } from 'kysely'
import type { PaymentSettings } from '../../config/config.ts'
import { crashPoint } from '../../crash-point.ts'
import type { Database } from '../../database/database.ts'
import { type DuePayment, isReviewed } from './due-payment.ts'
import { checkTrust, trustFor } from './trust.ts'

export type NetDue = DuePayment & { feeToSee: boolean; feeToKeep: string | null }

/** The payment as its loan's lender wants it posted. `feeToSee`: an operator has to see it first. */
export function lessPayerFee(
  config: PaymentSettings,
  payment: DuePayment,
  product: string,
): NetDue {
  const { payerFee: found, gateway } = payment
  if (found === null) return { ...payment, feeToSee: false, feeToKeep: null }
  const isBelieved = !found.isUnverified || isFeeTrusted(config, payment, product)
  const wanted = isBelieved ? trustFor(config, gateway, product).trust.payerFee : 'credit'
  const feeToSee = isBelieved && !isReviewed(payment) && (wanted === 'review' || !found.addsUp)
  const feeToKeep = wanted === 'credit' || !found.addsUp ? null : found.fee
  // The fee is the last part to go back.
  const amount = Decimal.max(new Decimal(found.captured).minus(feeToKeep ?? 0), 0).toFixed()
  return { ...payment, amount, feeToSee, feeToKeep }
}

/** Whether an event that states the fee would alone be enough for the loan's lender. */
function isFeeTrusted(config: PaymentSettings, payment: DuePayment, product: string): boolean {
  const events = payment.events
    .filter(({ statesFee }) => statesFee)
    .map(event => ({ ...event, namesLoan: true }))
  const alone = { ...payment, events, isVerified: false }
  return events.length > 0 && 'day' in checkTrust(config, alone, product)
}

/** Saves the fee before the repayment is sent: a look for it, the books and the read-back go by what was sent. */
export async function savePayerFee(db: Database, id: string, payment: NetDue): Promise<void> {
  const { payerFee, feeToKeep } = payment
  if (payerFee === null || payerFee.kept === feeToKeep) return
  await sql`update core.transaction set payer_fee = ${feeToKeep} where id = ${id}`.execute(db)
  crashPoint('repayment.fee-saved')
}
