import {
  capturedA,
  eventA,
  signedA,
  signedB,
  successB,
} from '../support/payments/gateway-events.ts'
import type { Post } from './post.ts'
import type { Loan } from './send-operations.ts'

export const SECRETS = { a: 'webhook-secret-of-a', b: 'webhook-secret-of-b' }

/** Even thousands of payments of so little do not overpay a loan. */
const MAX_PAISE = 10_000
/** The share of each kind of payment; the rest is captured by gateway A, in three events. */
const OF_GATEWAY_B = 0.2
const FAILED = 0.04
const WITHOUT_LOAN = 0.03
const ON_UNKNOWN_LOAN = 0.03

/** What is to become of payments: how many, and how much money. */
export type Tally = Record<string, { payments: number; paise: number }>
type Sent = { state: 'posted' | 'suspense' | 'failed'; paise: number }

/** Payments on the loans that `loanToPay` names, as both gateways report them. */
export function paymentSender(
  post: Post,
  draw: () => number,
  loanToPay: () => Loan | undefined,
): { tally: Tally; send(): Promise<void> } {
  const tally: Tally = {}
  let payments = 0
  return { tally, send }

  async function send(): Promise<void> {
    const loan = loanToPay()
    if (loan === undefined) return
    const { state, paise } = await pay(loan, ++payments, 1 + Math.floor(draw() * MAX_PAISE))
    const sum = tally[state] ?? { payments: 0, paise: 0 }
    tally[state] = { payments: sum.payments + 1, paise: sum.paise + paise }
  }

  async function pay({ externalId, lender }: Loan, n: number, paise: number): Promise<Sent> {
    const chance = draw()
    const facts = { id: `pay_${n}`, amount: paise }
    if (chance < OF_GATEWAY_B) {
      const amount = (paise / 100).toFixed(2)
      const body = JSON.stringify(
        successB({ id: String(9_000_000_000 + n), amount, loan: externalId }),
      )
      await post(`/api/webhooks/gateway_b?lender=${lender}`, body, signedB(SECRETS.b, body))
      return { state: 'posted', paise }
    }
    if (chance < OF_GATEWAY_B + FAILED) {
      await tell(lender, [
        eventA('payment.failed', { ...facts, loan: externalId, status: 'failed' }),
      ])
      return { state: 'failed', paise }
    }
    if (chance < OF_GATEWAY_B + FAILED + WITHOUT_LOAN) {
      await tell(lender, [capturedA(facts)])
      return { state: 'suspense', paise }
    }
    if (chance < OF_GATEWAY_B + FAILED + WITHOUT_LOAN + ON_UNKNOWN_LOAN) {
      await tell(lender, [capturedA({ ...facts, loan: `${externalId}-unknown` })])
      return { state: 'suspense', paise }
    }
    const named = { ...facts, loan: externalId }
    await tell(lender, [
      eventA('payment.authorized', { ...named, status: 'authorized' }),
      capturedA(named),
      eventA('order.paid', named),
    ])
    return { state: 'posted', paise }
  }

  async function tell(lender: string, events: object[]): Promise<void> {
    const bodies = events.map(event => JSON.stringify(event))
    const path = `/api/webhooks/gateway_a?lender=${lender}`
    await Promise.all(bodies.map(body => post(path, body, signedA(SECRETS.a, body))))
  }
}
