import type { Config } from '../../config/config.ts'
import { type Lender, unconfiguredLender } from '../../config/lenders.ts'
import type { GatewayName } from '../gateways/gateways.ts'
import { GATEWAY_API, UNKNOWN } from '../payment-event.ts'
import { secretsKey } from '../secrets-key.ts'
import type { DuePayment, Sender } from './due-payment.ts'

type Distrust = {
  reason:
    | 'signature_not_verified'
    | 'sender_not_allowed'
    | 'lender_mismatch'
    | 'awaiting_review'
    | 'unconfirmed'
  message: string
}

const MESSAGES = {
  signature_not_verified:
    'The loan’s lender requires a signature with its secret, and no event of the payment has one',
  sender_not_allowed: 'The event came from outside the networks that the loan’s lender allows',
  lender_mismatch: 'The event named a different lender from the one whose product the loan has',
  unconfirmed: 'The gateway has not confirmed any event of the payment yet',
  awaiting_review: 'The loan’s lender has its payments posted only after an operator has seen them',
}

/** One trusted event is enough, because all agree on money and loan; only the day may differ. */
export function checkTrust(
  config: Pick<Config, 'lenders' | 'gateways'>,
  { gateway, events, overruled }: DuePayment,
  product: string,
): { day: string } | Distrust {
  const holders = [...config.lenders.values()].filter(({ products }) => products.includes(product))
  if (holders.length === 0) {
    // The lender's checks are not known, so only an operator may have the payment posted.
    if (!overruled.includes('lender_mismatch')) {
      const message = `No lender in LENDERS_FILE has the loan’s product ${product}`
      return { reason: 'lender_mismatch', message }
    }
    holders.push(unconfiguredLender(config.gateways, product))
  }
  const checked = events.map(event => {
    // If lenders share a product, the one that the event named counts, otherwise all of them.
    const named = holders.filter(({ code }) => code === event.lender)
    const asked = named.length > 0 ? named : holders
    const reason = asked
      .flatMap(lender => [...reasonsToDistrust(config.lenders, lender, gateway, event)])
      .find(reason => !overruled.includes(reason))
    return { ...event, reason }
  })
  const trusted = checked.filter(({ reason }) => reason === undefined)
  const day = trusted.find(event => event.day !== null)?.day
  if (day && trusted.some(({ namesLoan }) => namesLoan)) {
    // Lenders that share a product have the same setting. The assignment of a payment counts as its review.
    const needsReview = holders.some(lender => lender[gateway].posting === 'review')
    return needsReview && overruled.length === 0 ? distrust('awaiting_review') : { day }
  }
  const distrusted = checked.filter(({ reason }) => reason !== undefined)
  const reason = (distrusted.find(({ namesLoan }) => namesLoan) ?? distrusted[0])?.reason
  if (reason === undefined) throw new Error('no event names the loan of the payment')
  return distrust(reason)
}

const distrust = (reason: Distrust['reason']): Distrust => ({ reason, message: MESSAGES[reason] })

function* reasonsToDistrust(
  lenders: Config['lenders'],
  lender: Lender,
  gateway: GatewayName,
  { lender: named, verifiedBy, isOutside }: Sender,
): Iterable<Distrust['reason']> {
  const isFetched = verifiedBy === GATEWAY_API
  const isVerified = isFetched
    ? isFetchedFor(lender, gateway, named)
    : isVerifiedBy(lenders, lender, gateway, verifiedBy)
  const { validateSignature, confirm } = lender[gateway]
  if (validateSignature && !confirm && !isVerified) yield 'signature_not_verified'
  if (isOutside) yield 'sender_not_allowed'
  // An event that was fetched with another lender's credentials is confirmed too, and is that lender's.
  if (confirm && !isVerified && !(isFetched && named !== UNKNOWN)) yield 'unconfirmed'
  if (named !== UNKNOWN && named !== lender.code) yield 'lender_mismatch'
}

function isFetchedFor(lender: Lender, gateway: GatewayName, named: string): boolean {
  return named === UNKNOWN ? lender[gateway].api === undefined : named === lender.code
}

/** Other lenders may share this lender's secrets. */
function isVerifiedBy(
  lenders: Config['lenders'],
  lender: Lender,
  gateway: GatewayName,
  verifiedBy: string | null,
): boolean {
  const key = secretsKey(lender, gateway)
  return (verifiedBy?.split(',') ?? []).some(code => {
    const other = lenders.get(code)
    return code === lender.code || (other !== undefined && secretsKey(other, gateway) === key)
  })
}
