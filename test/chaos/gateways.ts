import { capturedA, eventA, eventB, successB } from '../support/payments/gateway-events.ts'
import { type Paid, type Return, returnsOf } from './returns.ts'

/** A payment on the loan that it names, with its gateway's events about it, in order. */
export type Telling = {
  paid: Paid
  loan?: string
  /** The order that is registered for the loan, where the payment names none. */
  order?: string
  events: object[]
  returns: Return[]
  /** Told some stories after the payment, by when it is mostly posted. */
  isReturnedLate: boolean
}

const MAX_PAISE = 500_000
const RETURNED_ABOVE = 0.7
/** The share of what goes back that finds its payment posted; the rest holds it back. */
const RETURNED_LATE = 0.7

/**
 * A payment on a loan: mostly captured, with up to three types of event; some fail, are refunded or disputed, or name no loan
 * or only an order.
 */
export function telling(name: string, loan: string, draw: () => number): Telling {
  const paise = 1 + Math.floor(draw() * MAX_PAISE)
  const kind = draw()
  if (kind < 0.2) return byB(name, loan, paise, draw)
  const id = `pay_${name}`
  const named = kind < 0.25 ? `unknown ${loan}`.slice(0, 100) : loan
  const facts = { id, amount: paise, loan: named }
  const paid: Paid = { gateway: 'gateway_a', id, paise, isCaptured: true }
  const kept = { returns: [], isReturnedLate: false }
  if (kind < 0.3) {
    const events = [eventA('payment.failed', { ...facts, status: 'failed' })]
    return { paid: { ...paid, isCaptured: false }, loan: named, events, ...kept }
  }
  if (kind < 0.35) return { paid, events: [capturedA({ id, amount: paise })], ...kept }
  if (kind < 0.45) {
    // The order has the name that the gateway's own API gives it.
    const order = `order_${id}`
    const facts = { id, amount: paise, payment: { order_id: order } }
    return { paid, order, events: [capturedA(facts), eventA('order.paid', facts)], ...kept }
  }
  const captured = [
    eventA('payment.authorized', { ...facts, status: 'authorized' }),
    capturedA(facts),
    eventA('order.paid', facts),
  ]
  const returns = kind < RETURNED_ABOVE ? [] : returnsOf(paid, loan, draw)
  const events = shuffled(captured, draw)
  return { paid, loan, events, returns, isReturnedLate: draw() < RETURNED_LATE }
}

function byB(name: string, loan: string, paise: number, draw: () => number): Telling {
  const isCaptured = draw() < 0.85
  const id = `9${name.replace(/\D/g, '')}`
  const facts = { id, amount: (paise / 100).toFixed(2), loan }
  const event = isCaptured
    ? successB(facts)
    : eventB('PAYMENT_FAILED_WEBHOOK', { ...facts, status: 'FAILED' })
  const paid: Paid = { gateway: 'gateway_b', id, paise, isCaptured }
  const returns = isCaptured && draw() > RETURNED_ABOVE ? returnsOf(paid, loan, draw) : []
  return { paid, loan, events: [event], returns, isReturnedLate: draw() < RETURNED_LATE }
}

function shuffled<T>(values: T[], draw: () => number): T[] {
  return values
    .map(value => ({ value, at: draw() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value)
}
