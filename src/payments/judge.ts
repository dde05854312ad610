import { sql } from 'kysely'
import type { Batch } from './batch.ts'
import { noteError } from './batch-claim.ts'

/** Payments whose loans are looked up in one batch: each may cost a few calls of the ledger. */
const PAYMENTS_AT_MOST = 200

/** @returns the name of the loan's product; undefined where the ledger has no such loan */
export type ProductOf = (loan: string) => Promise<string | undefined>

type Unjudged = { gateway: string; paymentId: string; loans: string[] }

/**
 * Settles payments that something speaks against once their loans' products are known: by them it shows which of their
 * events come from outside the lender's networks. While the ledger does not answer, they wait as they are.
 */
export async function judge(batch: Batch, productOf: ProductOf): Promise<void> {
  const { rows } = await sql<Unjudged>`
    select gateway, gateway_payment_id as "paymentId",
           array(select core.unasked_loans(gateway, gateway_payment_id)) as loans
      from core.unjudged_payment
     order by may_wait, noted_at
     limit ${PAYMENTS_AT_MOST}`.execute(batch.db)
  for (const payment of rows) {
    batch.check()
    try {
      for (const loan of payment.loans) {
        const product = await productOf(loan)
        if (product !== undefined)
          await sql`select core.learn_product(${loan}, ${product})`.execute(batch.db)
      }
    } catch (error) {
      return noteError(batch.db, batch.claim, 'lenders of loans', error)
    }
    await settleAnew(batch, payment)
  }
}

async function settleAnew({ db }: Batch, { gateway, paymentId }: Unjudged): Promise<void> {
  await db.transaction().execute(async trx => {
    // Before the row: whoever settles payments notes them under this lock.
    await sql`select core.lock_settling()`.execute(trx)
    await sql`
      delete from core.unjudged_payment where gateway_payment_id = ${paymentId} and gateway = ${gateway}`.execute(
      trx,
    )
    await sql`select core.settle(${gateway}, array[${paymentId}], false)`.execute(trx)
  })
}
