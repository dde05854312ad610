import { askerOf } from '../../accounts/access/actor.ts'
import { toOperate } from '../../accounts/access/needs.ts'
import type { App } from '../../http/app.ts'
import { whileAsked } from '../../http/while-asked.ts'
import { Payment, PaymentParams as params } from '../../payments/payment-record.ts'
import { checkPayment, type PaymentCheckContext } from './check-payment.ts'

const checkSchema = {
  operationId: 'checkPayment',
  summary:
    'Reads a posted payment’s repayment back from the ledger, and returns the updated payment',
  params,
  response: { 200: Payment },
}

export function paymentCheckRoutes(app: App, context: PaymentCheckContext): void {
  app.post(
    '/payments/:gateway/:gateway_payment_id/check',
    toOperate(checkSchema),
    async (request, reply) => {
      const { gateway, gateway_payment_id: paymentId } = request.params
      const asked = { ...context, signal: whileAsked(reply) }
      return checkPayment(asked, { gateway, paymentId }, askerOf(request))
    },
  )
}
