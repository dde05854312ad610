import { Decimal } from 'decimal.js'
import { sql } from 'kysely'
import type { Config } from '../../config/config.ts'
import { crashPoint } from '../../crash-point.ts'
import type { Database } from '../../database/database.ts'
import type { DuePayment } from './due-payment.ts'

type Taken = DuePayment & { feeToSee: boolean; feeToKeep: string | null }

/** The payment as its loan's lender wants it posted. `feeToSee`: an operator has to see it first. */
export function lessPayerFee(
  { lenders }: Pick<Config, 'lenders'>,
  payment: DuePayment,
  product: string,
): Taken {
  const { payerFee: found, gateway, overruled } = payment
  if (found === null) return { ...payment, feeToSee: false, feeToKeep: null }
  // Lenders that share a product have the same setting.
  const holder = [...lenders.values()].find(({ products }) => products.includes(product))
  const wanted = holder?.[gateway].payerFee ?? 'deduct'
  // The assignment of a payment counts as its review.
  const feeToSee = overruled.length === 0 && (wanted === 'review' || !found.addsUp)
  const feeToKeep = wanted === 'credit' || !found.addsUp ? null : found.fee
  const amount = new Decimal(found.captured).minus(feeToKeep ?? 0).toFixed()
  return { ...payment, amount, feeToSee, feeToKeep }
}

/** Saves the fee before the repayment is sent: a look for it, the books and the read-back go by what was sent. */
export async function savePayerFee(db: Database, id: string, payment: Taken): Promise<void> {
  const { payerFee, feeToKeep } = payment
  if (payerFee === null || payerFee.kept === feeToKeep) return
  await sql`update core.transaction set payer_fee = ${feeToKeep} where id = ${id}`.execute(db)
  crashPoint('repayment.fee-saved')
}
