import { sql } from 'kysely'
import { lockSettling } from '../lock-settling.ts'
import { learnProduct } from '../repayment/repayment.ts'
import type { Batch } from './batch.ts'
import { noteError } from './note-error.ts'

/** Nothing is posted before these loans are read: at 25 ms a call, that takes five seconds. A payment may name several. */
const MAX_PAYMENTS = 200
const MAX_LOANS = 200

export type LoanReads = {
  productOf(loan: string): Promise<string | undefined>
  /** Whether the ledger as a whole can be read. */
  ledgerAnswers(): Promise<boolean>
}

type UnjudgedPayment = { gateway: string; paymentId: string; loans: string[] }

/**
 * Asks the ledger for the products of loans. Once its loan's product is known, a contradicted payment is settled
 * again by that lender's networks.
 */
export async function learnLenders(batch: Batch, { productOf, ledgerAnswers }: LoanReads) {
  const { rows } = await sql<UnjudgedPayment>`
    select gateway, gateway_payment_id as "paymentId",
           array(select core.unasked_loans(gateway, gateway_payment_id)) as loans
      from core.unjudged_payment
     order by may_wait, noted_at
     limit ${MAX_PAYMENTS}`.execute(batch.db)
  for (const payment of rows) {
    batch.check()
    try {
      await learnProducts(batch, payment, productOf)
    } catch (error) {
      await noteError(batch.db, batch.claim, 'lenders of loans', error)
      if (!(await ledgerAnswers())) return
      await moveBack(batch, payment)
      continue
    }
    await settleAgain(batch, payment)
  }
  await askAgain(batch, { productOf, ledgerAnswers })
}

/**
 * Asks again for the products of loans before gateways are asked: another lender's gateway would not have the
 * payments of a loan that changed hands.
 */
async function askAgain(batch: Batch, { productOf, ledgerAnswers }: LoanReads): Promise<void> {
  const { rows } = await sql<{ loan: string }>`
    select loan from core.loans_to_learn_again(${MAX_LOANS}) as loan`.execute(batch.db)
  for (const { loan } of rows) {
    batch.check()
    try {
      await learnProduct(batch.db, loan, (await productOf(loan)) ?? null)
    } catch (error) {
      await noteError(batch.db, batch.claim, 'lenders of loans', error)
      if (!(await ledgerAnswers())) return
      await sql`
        update core.loan_product set learned_at = now()
         where external_loan_id = ${loan}`.execute(batch.db)
    }
  }
}

async function learnProducts(
  batch: Batch,
  { loans }: UnjudgedPayment,
  productOf: LoanReads['productOf'],
): Promise<void> {
  for (const loan of loans) {
    const product = await productOf(loan)
    if (product !== undefined) await learnProduct(batch.db, loan, product)
  }
}

/** A loan may be unreadable every time: its payments must not fill the next batches. */
async function moveBack({ db }: Batch, { gateway, paymentId }: UnjudgedPayment): Promise<void> {
  await sql`
    update core.unjudged_payment set noted_at = clock_timestamp()
     where gateway_payment_id = ${paymentId} and gateway = ${gateway}`.execute(db)
}

async function settleAgain({ db }: Batch, { gateway, paymentId }: UnjudgedPayment): Promise<void> {
  await db.transaction().execute(async trx => {
    await lockSettling(trx)
    await sql`
      delete from core.unjudged_payment
       where gateway_payment_id = ${paymentId} and gateway = ${gateway}`.execute(trx)
    await sql`select core.settle(${gateway}, array[${paymentId}], has_news => false)`.execute(trx)
  })
}
