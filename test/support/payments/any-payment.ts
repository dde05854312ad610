import fc from 'fast-check'
import {
  capturedA,
  disputeA,
  drawB,
  eventA,
  eventB,
  linkB,
  PAID_AT_ISO,
  refundA,
  refundB,
  signedA,
  signedB,
  successB,
} from './gateway-events.ts'

const GATEWAYS = ['gateway_a', 'gateway_b'] as const

/** What happened to a payment at its gateway, and how the gateway writes it down. */
export type AnyPayment = {
  gateway: (typeof GATEWAYS)[number]
  paise: number
  isCaptured: boolean
  /** How its events name the loan; undefined: not at all. */
  loan: string | undefined
  isSigned: boolean
  against: 'refund' | 'failed refund' | 'dispute' | 'won dispute' | undefined
  /** The payer's fee, and whether the order says so. */
  fee: 'none' | 'adds up' | 'differs'
  /** What stands in a field that nobody needs. */
  noise: string
}

export const FEE_PAISE = 1_000
/** Named by an event of gateway B's payment link. */
const BY_LINK = 'by link'
const NOISE = '@noise@'

export const anyPayment: fc.Arbitrary<AnyPayment> = fc.record({
  gateway: fc.constantFrom(...GATEWAYS),
  paise: fc.integer({ min: 10_000, max: 90_000 }),
  isCaptured: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
  loan: fc.constantFrom(undefined, 'L-2', 'L-2\u00a0', '\u200bL-2\r\n', BY_LINK),
  isSigned: fc.boolean(),
  against: fc.constantFrom(
    undefined,
    undefined,
    'refund',
    'failed refund',
    'dispute',
    'won dispute',
  ),
  fee: fc.constantFrom('none', 'none', 'adds up', 'differs'),
  noise: fc.constantFrom('', 'RAMESH\\u0000\\u0000', 'RAM\xffESH', '\\ud83d', '\\u0000'),
})

export const namesLoan = ({ gateway, loan }: AnyPayment) =>
  loan !== undefined && (loan !== BY_LINK || gateway === 'gateway_b')

/** What nobody but the gateway may say, of a payment that exists. */
export const FORGERIES = [
  'forged amount',
  'forged loan',
  'forged capture',
  'forged refund',
  'forged end of a refund',
  'forged link',
  'forged dispute',
] as const
type Forgery = (typeof FORGERIES)[number]

type Events = {
  genuine(id: string, payment: AnyPayment): object[]
  /** Undefined if the gateway has no such event. */
  forged(id: string, what: Forgery): object | undefined
  /** An event with the payment's id that cannot be read, and looks as if it were captured. */
  unreadable(id: string): object
  /** An event with the payment's money, without its id. */
  nameless(id: string, payment: AnyPayment): object
  /** Events with an amount and a loan that are no money. */
  worthless(id: string): object[]
  signed(body: Buffer): Record<string, string>
  eventIdHeader: string
}

export const EVENTS: Record<AnyPayment['gateway'], Events> = {
  gateway_a: {
    genuine: genuineA,
    forged: forgedA,
    unreadable: id => capturedA({ id, amount: 'ten' }),
    nameless: (order_id, { paise: amount }) =>
      capturedA({ id: null, amount, payment: { order_id } }),
    worthless: id => [
      {
        event: 'token.confirmed',
        payload: {
          token: {
            entity: { id: `token_${id}`, max_amount: 9_999_900, notes: { loan_id: 'L-2' } },
          },
        },
      },
      eventA('payment.pending', { id, status: 'pending', loan: 'L-2', amount: 5 }),
    ],
    signed: body => signedA('s', body),
    eventIdHeader: 'x-gatewaya-event-id',
  },
  gateway_b: {
    genuine: genuineB,
    forged: forgedB,
    unreadable: id => successB({ id, amount: 'ten' }),
    nameless(order_id, { paise }) {
      const event = successB({ id: null, amount: paise / 100 })
      return { ...event, data: { ...event.data, order: { order_id } } }
    },
    worthless: id => [
      eventB('PAYMENT_CHARGES_WEBHOOK', { id, amount: 5, loan: 'L-2' }),
      drawB('SUBSCRIPTION_AUTH_STATUS', { cf_payment_id: id }, { loan_id: 'L-2' }),
    ],
    signed: body => signedB('s', body),
    eventIdHeader: 'x-idempotency-key',
  },
}

/** The event's body, with the noise in its place. */
export function bodyOf(event: object, noise = ''): Buffer {
  const parts = JSON.stringify(event).split(NOISE)
  return Buffer.concat(
    parts.flatMap((part, n) => [
      ...(n === 0 ? [] : [Buffer.from(noise, 'latin1')]),
      Buffer.from(part),
    ]),
  )
}

/** The events in the order in which they happened. */
function genuineA(id: string, { paise: amount, isCaptured, against, fee, loan }: AnyPayment) {
  const facts = {
    id,
    amount,
    ...(loan !== undefined && loan !== BY_LINK && { loan }),
    payment: {
      description: NOISE,
      ...(fee !== 'none' && { fee: FEE_PAISE, tax: 0, fee_bearer: 'customer' }),
    },
  }
  const failed = eventA('payment.failed', { ...facts, status: 'failed' })
  if (!isCaptured) return [failed]
  const order = { id: `order_${id}`, amount: orderedOf(amount, fee) }
  const paid = eventA('order.paid', { ...facts, payload: { order: { entity: order } } })
  const refund = (status: string) =>
    refundA({ id: `rfnd_${id}`, of: id, status, payment: { notes: { by: NOISE }, ...facts } })
  const end = {
    refund: [refund('created'), refund('processed')],
    'failed refund': [refund('created'), refund('failed')],
    dispute: [disputeOfA(id, 'created', facts)],
    'won dispute': [disputeOfA(id, 'created', facts), disputeOfA(id, 'won', facts)],
  }
  return [failed, capturedA(facts), paid, ...(against ? end[against] : [])]
}

function disputeOfA(id: string, status: string, facts: object) {
  const event: any = disputeA(status, { id, ...facts })
  event.payload.dispute.entity.id = `disp_${id}`
  return event
}

function orderedOf(paise: number, fee: AnyPayment['fee']): number {
  if (fee === 'none') return paise
  return paise - FEE_PAISE - (fee === 'differs' ? 1 : 0)
}

function forgedA(id: string, what: Forgery) {
  return {
    'forged amount': capturedA({ id, loan: 'L-2', amount: 7 }),
    'forged loan': eventA('order.paid', { id, loan: 'L-3', amount: 8 }),
    'forged capture': capturedA({ id, amount: 9 }),
    'forged refund': refundA({ id: `rfnd_${id}`, of: id }),
    'forged end of a refund': refundA({ id: `rfnd_${id}`, of: id, status: 'failed' }),
    'forged link': undefined,
    'forged dispute': disputeOfA(id, 'created', { loan: 'L-2' }),
  }[what]
}

function genuineB(id: string, { paise, isCaptured, against, fee, loan }: AnyPayment) {
  const tags = loan === BY_LINK ? { cf_link_id: id } : loan && { loan_id: loan }
  const facts = { id, amount: paise / 100, tags }
  const event = (type: string, status: string) => {
    const made: any = eventB(type, { ...facts, status })
    made.data.customer_details.customer_name = NOISE
    made.data.order.order_amount = orderedOf(paise, fee) / 100
    if (fee !== 'none')
      made.data.payment.payment_surcharge = { payment_surcharge_service_charge: FEE_PAISE / 100 }
    return made
  }
  const failed = event('PAYMENT_FAILED_WEBHOOK', 'FAILED')
  const link = loan === BY_LINK ? [linkB(id, 'L-2', { link_purpose: NOISE })] : []
  if (!isCaptured) return [failed, ...link]
  const refund = (status: string) => {
    const made: any = refundB({ id: `rfnd_${id}`, of: id, status })
    made.data.refund.refund_note = NOISE
    return made
  }
  const end = {
    refund: [refund('PENDING'), refund('SUCCESS')],
    'failed refund': [refund('PENDING'), refund('CANCELLED')],
    dispute: [disputeOfB(id, 'DISPUTE_CREATED')],
    'won dispute': [disputeOfB(id, 'DISPUTE_CREATED'), disputeOfB(id, 'DISPUTE_MERCHANT_WON')],
  }
  const paid = event('PAYMENT_SUCCESS_WEBHOOK', 'SUCCESS')
  return [failed, paid, ...link, ...(against ? end[against] : [])]
}

const disputeOfB = (id: string, dispute_status: string) => ({
  type: dispute_status === 'DISPUTE_CREATED' ? dispute_status : 'DISPUTE_CLOSED',
  event_time: PAID_AT_ISO,
  data: {
    dispute: {
      dispute_id: `disp_${id}`,
      dispute_type: 'DISPUTE',
      dispute_status,
      dispute_amount: 100,
      created_at: PAID_AT_ISO,
      reason_description: NOISE,
    },
    order_details: { order_id: 'order-1', cf_payment_id: id, payment_currency: 'INR' },
  },
})

function forgedB(id: string, what: Forgery) {
  return {
    'forged amount': successB({ id, loan: 'L-2', amount: 0.07 }),
    'forged loan': successB({ id, loan: 'L-3', amount: 0.08 }),
    'forged capture': successB({ id, amount: 0.09 }),
    'forged refund': refundB({ id: `rfnd_${id}`, of: id }),
    'forged end of a refund': undefined,
    'forged link': linkB(id, 'L-3'),
    'forged dispute': disputeOfB(id, 'DISPUTE_CREATED'),
  }[what]
}
