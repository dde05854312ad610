import type { Test } from 'tap'
import { lendersFile } from '../config/lenders-file.ts'
import { successB } from '../payments/gateway-events.ts'
import { paymentService } from '../payments/payments.ts'
import { gatewaySandbox, PAID_AT } from './gateways.ts'

const B = 'gateway_b'

/** LENDER_06 has gateway A confirm its events, LENDER_07 gateway B, each with one loan. */
export async function withConfirm(t: Test) {
  const gateways = await gatewaySandbox(t)
  const LENDERS_FILE = lendersFile(t, {
    LENDER_06: { gateway_a: { confirm: true, secretEnv: 'SIX', validateSignature: false } },
    LENDER_07: { gateway_b: { confirm: true } },
    LENDER_08: { gateway_b: { confirm: true, apiKeyEnv: 'EIGHT', apiSecretEnv: 'OWN' } },
  })
  const own = { EIGHT: 'account-8', OWN: gateways.secret }
  const settings = { ...gateways.settings, LENDERS_FILE, SIX: 'secret', ...own }
  const service = await paymentService(t, settings)
  await service.loan('L-2')
  await service.loan('L-6', { product: 6 })
  await service.loan('L-7', { product: 7 })
  await service.loan('L-77', { product: 7 })
  await service.loan('L-8', { product: 8 })
  const has = (gateway: string, id: string, more: object = {}) =>
    gateways.put('/payments', {
      gateway,
      id,
      amount: 100_000,
      created_at: PAID_AT,
      notes: { loan_id: gateway === B ? 'L-7' : 'L-6' },
      ...more,
    })
  /** The paths of the questions so far that name the text. */
  const asked = async (text: string) =>
    (await gateways.calls()).map(({ path }) => path).filter(path => path.includes(text))
  const posted = async (loan: string) =>
    (await service.repayments()).filter(one => one.loanExternalId === loan)
  const stateOf = async (id: string, gateway = B) => {
    const { payment } = await service.payment(id, gateway)
    return [payment.state, payment.reason, payment.waiting_for]
  }
  return { gateways, service, has, asked, posted, stateOf }
}

/** An event about the payment with this id, in its own order. */
export function paidB(id: string, { order = `order_${id}`, ...facts }: Record<string, any> = {}) {
  const event = successB({ id, loan: 'L-7', ...facts })
  return { ...event, data: { ...event.data, order: { ...event.data.order, order_id: order } } }
}
