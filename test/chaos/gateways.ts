import type { Gateway } from '../../src/payments/gateways/gateways.ts'
import { capturedA, eventA, eventB, successB } from '../support/gateway-events.ts'
import { refund } from '../support/reversals.ts'

/** A payment in its gateway's own books. */
export type Paid = { gateway: Gateway; id: string; paise: number; isCaptured: boolean }
/** A payment on the loan that it names, with its gateway's events about it, in order. */
export type Telling = {
  paid: Paid
  loan?: string
  /** The order that is registered for the loan, where the payment names none. */
  order?: string
  refunds?: { id: string; amount: number }[]
  events: object[]
}

const MAX_PAISE = 500_000

/** A payment on a loan: mostly captured, with up to three types of event; some fail, are refunded, or name no loan or only an order. */
export function telling(name: string, loan: string, draw: () => number): Telling {
  const paise = 1 + Math.floor(draw() * MAX_PAISE)
  const kind = draw()
  if (kind < 0.2) return byB(name, loan, paise, draw() < 0.85)
  const id = `pay_${name}`
  const named = kind < 0.25 ? `unknown ${loan}`.slice(0, 100) : loan
  const facts = { id, amount: paise, loan: named }
  const paid: Paid = { gateway: 'gateway_a', id, paise, isCaptured: true }
  if (kind < 0.3) {
    const events = [eventA('payment.failed', { ...facts, status: 'failed' })]
    return { paid: { ...paid, isCaptured: false }, loan: named, events }
  }
  if (kind < 0.35) return { paid, events: [capturedA({ id, amount: paise })] }
  if (kind < 0.45) {
    const facts = { id, amount: paise, payment: { order_id: `order_${name}` } }
    return { paid, order: `order_${name}`, events: [capturedA(facts), eventA('order.paid', facts)] }
  }
  const captured = [
    eventA('payment.authorized', { ...facts, status: 'authorized' }),
    capturedA(facts),
    eventA('order.paid', facts),
  ]
  if (kind > 0.85) {
    const refunds = partsOf(paise, draw).map((amount, i) => ({ id: `rfnd_${name}_${i}`, amount }))
    const told = refunds.map(one => refund({ id: one.id, of: id, paise: one.amount }))
    return { paid, loan, refunds, events: shuffled([...captured, ...told], draw) }
  }
  return { paid, loan, events: shuffled(captured, draw) }
}

/** What goes back of a payment: all of it, or a part or two of it, or more than it. */
function partsOf(paise: number, draw: () => number): number[] {
  const part = 1 + Math.floor(draw() * paise)
  const kind = draw()
  if (kind < 0.3) return [paise]
  if (kind < 0.4) return [paise + part]
  return kind < 0.7 ? [part] : [part, Math.max(1, paise - part)]
}

function byB(name: string, loan: string, paise: number, isCaptured: boolean): Telling {
  const id = `9${name.replace(/\D/g, '')}`
  const facts = { id, amount: (paise / 100).toFixed(2), loan }
  const event = isCaptured
    ? successB(facts)
    : eventB('PAYMENT_FAILED_WEBHOOK', { ...facts, status: 'FAILED' })
  return { paid: { gateway: 'gateway_b', id, paise, isCaptured }, loan, events: [event] }
}

function shuffled<T>(values: T[], draw: () => number): T[] {
  return values
    .map(value => ({ value, at: draw() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value)
}
