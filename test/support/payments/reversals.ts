import { Decimal } from 'decimal.js'
import type { Test } from 'tap'
import { withReadback } from '../books/readback.ts'
import { lendersFile } from '../config/lenders-file.ts'
import type { Preparation } from '../service.ts'
import { disputeA, PAID_AT_ISO, refundA, refundB, signedA, signedB } from './gateway-events.ts'
import { paymentService, SECRET } from './payments.ts'

/** The settings of a lender that takes unsigned events too, and books what is proved. */
export const AUTOMATIC = { validateSignature: false, reversals: 'automatic', secretEnv: 'S' }
export const MANUAL = { ...AUTOMATIC, reversals: 'manual' }

/** LENDER_02 at both gateways, with the loan L-1. */
export async function reversing(
  t: Test,
  trust: object = AUTOMATIC,
  changes: NodeJS.ProcessEnv = {},
  preparation: Preparation = {},
) {
  const LENDERS_FILE = lendersFile(t, { LENDER_02: { gateway_a: trust, gateway_b: trust } })
  const settings = { LENDERS_FILE, S: SECRET, ...changes }
  const service = withReadback(await paymentService(t, settings, preparation))
  await service.loan('L-1')
  return withSigned(service)
}

export function withSigned<Service extends Awaited<ReturnType<typeof paymentService>>>(
  service: Service,
) {
  return {
    ...service,
    signed(event: object, headers: Record<string, string> = {}, lender = 'LENDER_02') {
      const [gateway, sign] =
        'event' in event ? (['gateway_a', signedA] as const) : (['gateway_b', signedB] as const)
      const body = JSON.stringify(event)
      return service.webhook(gateway, body, {
        lender,
        headers: { ...headers, ...sign(SECRET, body) },
      })
    },
    /** State, reason, objection and what went back. */
    shown: async (id: unknown, gateway = 'gateway_a') => {
      const { payment } = await service.payment(id, gateway)
      const { state, reason, objection, returned_amount: returned } = payment
      return [state, reason, objection, returned && new Decimal(returned).toFixed()]
    },
    /** What stands at the ledger, by external id. */
    standing: async () =>
      Object.fromEntries(
        (await service.repayments())
          .filter(one => !one.reversed)
          .map(one => [one.externalId?.replace(/^gateway_[ab]-/, ''), Number(one.amount)]),
      ),
    decide: (id: string, outcome: 'reverse' | 'restore' | 'dismiss' | 'handled') =>
      service.resolve(id, { outcome, note: 'seen' }),
  }
}

type Refunded = { id?: string; of?: string; paise?: number; status?: string; name?: string }

export function refund({ paise = 100_000, name, ...facts }: Refunded = {}) {
  const event: any = refundA(facts)
  event.payload.refund.entity.amount = paise
  return name === undefined ? event : { ...event, event: name }
}

type Disputed = {
  id?: string
  of?: string
  paise?: number
  phase?: string
  deducted?: number
  loan?: string
  /** What was paid, in paise. */
  paid?: number
}

export function dispute(
  status: string,
  {
    id = 'disp_1',
    of = 'pay_1',
    paise = 100_000,
    phase,
    deducted,
    loan = 'L-1',
    paid,
  }: Disputed = {},
) {
  const event: any = disputeA(status, { id: of, loan, amount: paid })
  const { entity } = event.payload.dispute
  Object.assign(entity, {
    id,
    amount: paise,
    amount_deducted: deducted ?? paise,
    phase: phase ?? entity.phase,
  })
  return event
}

export function refundOfB(rupees: number, facts: Parameters<typeof refundB>[0] = {}) {
  const event: any = refundB(facts)
  for (const part of [event.data.refund, event.data.auto_refund])
    if (part) part.refund_amount = rupees
  return event
}

export const disputeOfB = (
  status: string,
  rupees: number,
  of: unknown = 1_453_002_795,
  id = `disp_${of}`,
) => ({
  type: `DISPUTE_${/WON|LOST|ACCEPTED/.test(status) ? 'CLOSED' : /REVIEW/.test(status) ? 'UPDATED' : 'CREATED'}`,
  event_time: PAID_AT_ISO,
  data: {
    dispute: {
      dispute_id: id,
      dispute_type: 'DISPUTE',
      dispute_status: status,
      dispute_amount: rupees,
      dispute_amount_currency: 'INR',
      created_at: PAID_AT_ISO,
    },
    order_details: { order_id: 'order-1', cf_payment_id: of, payment_currency: 'INR' },
  },
})
