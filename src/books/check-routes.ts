import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Config } from '../config/config.ts'
import type { Database } from '../database/database.ts'
import { Unavailable } from '../database/unavailable.ts'
import { LedgerTrouble } from '../ledger/answer.ts'
import type { Ledger } from '../ledger/client.ts'
import type { Slots } from '../ledger/slots.ts'
import type { Metrics } from '../ops/metrics.ts'
import { foundPayment } from '../payments/find-payments.ts'
import { Payment, PaymentParams as params } from '../payments/payment-record.ts'
import { countFound } from './count-found.ts'
import { ALWAYS, type PostedPayment, postedTo } from './posted-payments.ts'
import { type Finding, readRepayments } from './read-repayments.ts'
import { recordFindings } from './record-findings.ts'

const checkSchema = {
  operationId: 'checkPayment',
  tags: ['payments'],
  summary:
    'Reads a posted payment’s repayment back from the ledger, and returns the payment as it is then',
  params,
  response: { 200: Payment },
}

type Context = { db: Database; config: Config; ledger: Ledger; slots: Slots; metrics: Metrics }

/** Compares one payment with the ledger while the caller waits. */
export function checkRoutes({
  db,
  config,
  ledger,
  slots,
  metrics,
}: Context): FastifyPluginAsyncTypebox {
  const onFound = countFound(metrics)
  return async app => {
    app.post(
      '/payments/:gateway/:gateway_payment_id/check',
      { schema: checkSchema },
      async request => {
        const { gateway, gateway_payment_id: paymentId } = request.params
        const { id, payment } = await foundPayment(db, { gateway, paymentId })
        const { state, kind, external_loan_id: loan } = payment
        if (state !== 'posted' || loan === null) return payment
        const posted = await postedTo(db, [loan], ALWAYS, config.LEDGER_TIMEZONE)
        const findings = await readNow(
          loan,
          posted.filter(one => one.id === id),
        )
        onFound(await db.transaction().execute(trx => recordFindings(trx, findings)))
        return (await foundPayment(db, { gateway, paymentId, kind })).payment
      },
    )
  }

  async function readNow(loan: string, payments: PostedPayment[]): Promise<Finding[]> {
    try {
      return await slots.run('live', () => readRepayments(ledger, loan, payments))
    } catch (error) {
      if (error instanceof LedgerTrouble)
        throw new Unavailable('the ledger does not tell what it holds')
      throw error
    }
  }
}
