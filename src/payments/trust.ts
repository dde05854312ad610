import type { Config } from '../config.ts'
import { type Lender, unconfiguredLender } from '../lenders.ts'
import type { DuePayment, Sender } from './due-payment.ts'
import type { Gateway } from './gateways/gateways.ts'
import { UNKNOWN } from './payment-event.ts'

export type Distrust = {
  reason: 'signature_not_verified' | 'sender_not_allowed' | 'lender_mismatch'
  message: string
}

const MESSAGES = {
  signature_not_verified:
    'The loan’s lender wants a signature by its secret, and no event of the payment has it',
  sender_not_allowed: 'The event came from outside the networks that the loan’s lender allows',
  lender_mismatch: 'The event named another lender than the one whose product the loan is',
}

/**
 * Whether the lender whose product the loan is believes the payment, whatever lender its events named. One event
 * that is believed is enough: they agree on money and loan. On the day they need not: it is by those that are believed.
 */
export function believe(
  config: Pick<Config, 'lenders' | 'gateways'>,
  { gateway, tellings, overruled }: DuePayment,
  product: string,
): { day: string } | Distrust {
  const holders = [...config.lenders.values()].filter(lender => lender.product === product)
  if (holders.length === 0) holders.push(unconfiguredLender(config.gateways, product))
  const judged = tellings.map(telling => {
    // Where lenders share a product, the one that the event named, else each of them.
    const named = holders.filter(({ code }) => code === telling.lender)
    const asked = named.length > 0 ? named : holders
    const reason = asked
      .flatMap(lender => [...reasonsToDistrust(config.lenders, lender, gateway, telling)])
      .find(reason => !overruled.includes(reason))
    return { ...telling, reason }
  })
  const believed = judged.filter(({ reason }) => reason === undefined)
  const [earliest] = believed
  if (earliest !== undefined && believed.some(({ namesLoan }) => namesLoan)) return earliest
  const reason = judged.find(({ namesLoan }) => namesLoan)?.reason
  if (reason === undefined) throw new Error('no event names the loan of the payment')
  return { reason, message: MESSAGES[reason] }
}

function* reasonsToDistrust(
  lenders: Config['lenders'],
  lender: Lender,
  gateway: Gateway,
  { lender: named, verifiedBy, isOutside }: Sender,
): Iterable<Distrust['reason']> {
  if (lender[gateway].validateSignature && !isVerifiedBy(lenders, lender, gateway, verifiedBy))
    yield 'signature_not_verified'
  if (isOutside) yield 'sender_not_allowed'
  if (named !== UNKNOWN && named !== lender.code) yield 'lender_mismatch'
}

/** By its own secret, whoever else has the same ones. */
function isVerifiedBy(
  lenders: Config['lenders'],
  lender: Lender,
  gateway: Gateway,
  verifiedBy: string | null,
): boolean {
  const secretsOf = (one: Lender | undefined) => JSON.stringify(one?.[gateway].secrets)
  return (verifiedBy?.split(',') ?? []).some(
    code => code === lender.code || secretsOf(lenders.get(code)) === secretsOf(lender),
  )
}
